import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { chunkText } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

/** The system message of a request. */
function systemOf(model: ModelServer, request: number): string {
  const body = model.requests[request]!.body as { messages: { role: string; content: string }[] };
  const [first] = body.messages;
  assertEquals(first?.role, "system");
  return first!.content;
}

Deno.test("AGENTS.md is in the system prompt, read anew for each turn, and named when it changed", async () => {
  await using model = ModelServer.start([answer(text("a")), answer(text("b")), answer(text("c"))]);
  await using agent = await startAgent({ model, files: { "AGENTS.md": "Say moo.\n" } });
  const sessionId = await agent.newSession();
  const { client } = agent;
  await client.prompt(sessionId, "one");
  assertStringIncludes(systemOf(model, 0), `<instructions path="${agent.path("AGENTS.md")}">`);
  assertStringIncludes(systemOf(model, 0), "Say moo.");
  const notice = `Instructions: ${agent.path("AGENTS.md")} (8 characters).\n\n`;
  assertEquals(chunkText(client.updatesOf(sessionId)), `${notice}a`);
  await client.prompt(sessionId, "two");
  assertEquals(systemOf(model, 1), systemOf(model, 0));
  assertEquals(chunkText(client.updatesOf(sessionId)), `${notice}ab`);
  await Deno.writeTextFile(agent.path("AGENTS.md"), "Say nothing.");
  await client.prompt(sessionId, "three");
  assertStringIncludes(systemOf(model, 2), "Say nothing.");
  assert(!systemOf(model, 2).includes("moo"));
  assertStringIncludes(chunkText(client.updatesOf(sessionId)), "(12 characters).\n\nc");
});

Deno.test("instructions come from the repository's root down, CLAUDE.md where there is no other", async () => {
  await using model = ModelServer.start([answer(text("a"))]);
  await using agent = await startAgent({
    model,
    files: {
      "repo/.git/HEAD": "",
      "AGENTS.md": "Outside.",
      "repo/AGENTS.md": "Root.",
      "repo/a/CLAUDE.md": "Middle.",
      "repo/a/b/AGENTS.md": "Nearest.",
      "repo/a/b/CLAUDE.md": "Unread.",
    },
  });
  const { client } = agent;
  const created = await client.call("session/new", {
    cwd: agent.path("repo/a/b"),
    mcpServers: [],
  });
  await client.prompt(String(created["sessionId"]), "go");
  const system = systemOf(model, 0);
  const found = ["Outside.", "Root.", "Middle.", "Nearest.", "Unread."].map((one) =>
    system.indexOf(one)
  );
  assertEquals([found[0], found[4]], [-1, -1]);
  assert(0 < found[1]! && found[1]! < found[2]! && found[2]! < found[3]!);
});

Deno.test("instructions that are no file of the project, or too much, do no harm", async () => {
  await using model = ModelServer.start([answer(text("a"))]);
  await using agent = await startAgent({
    model,
    files: { "sub/AGENTS.md": `${"ü".repeat(70_000)}END`, ".git/HEAD": "" },
  });
  await Deno.writeTextFile(`${agent.home}/secret`, "Outside.");
  await Deno.symlink(`${agent.home}/secret`, agent.path("AGENTS.md"));
  await new Deno.Command("mkfifo", { args: [agent.path("CLAUDE.md")] }).output();
  const created = await agent.client.call("session/new", {
    cwd: agent.path("sub"),
    mcpServers: [],
  });
  await agent.client.prompt(String(created["sessionId"]), "go");
  const system = systemOf(model, 0);
  assert(!system.includes("Outside.") && !system.includes("END"));
  assertStringIncludes(system, "[6003 characters left out: read the file for them]");
});

Deno.test("skills are offered by name, description and path; what is none is passed over", async () => {
  await using model = ModelServer.start([answer(text("a"))]);
  await using agent = await startAgent({
    model,
    files: {
      ".agents/skills/release/SKILL.md":
        "---\nname: release\ndescription: >-\n  How to\n  release\n---\nBody.\n",
      ".claude/skills/release/SKILL.md": "---\nname: release\ndescription: Another\n---\n",
      ".claude/skills/review/SKILL.md": "---\ndescription: How to review\n---\n",
      ".claude/skills/broken/SKILL.md": "---\ndescription: [a\n---\n",
      ".claude/skills/silent/SKILL.md": "No header.\n",
      ".claude/skills/empty/other.md": "",
    },
  });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "go");
  const lines = systemOf(model, 0).split("\n").filter((line) => line.endsWith("SKILL.md)"));
  assertEquals(lines, [
    `- release: How to release (${agent.path(".agents/skills/release/SKILL.md")})`,
    `- review: How to review (${agent.path(".claude/skills/review/SKILL.md")})`,
  ]);
  assertEquals(
    chunkText(agent.client.updatesOf(sessionId)),
    "Skills: release, review.\n\na",
  );
});
