import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { Json, JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import {
  chunkText,
  isCommandList,
  member,
  mergeChunks,
  type UpdateFrame,
} from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, hang, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";
import { readLog } from "../helpers/stored_log.ts";

/** All lists of commands a session has sent. */
function lists(client: AcpClient, sessionId: string): UpdateFrame[] {
  return client.updates.filter((one) => one.sessionId === sessionId && isCommandList(one.update));
}

/** The first list, awaited: name, description and hint of each command. */
async function offered(client: AcpClient, sessionId: string, after = -1): Promise<unknown[][]> {
  const frame = await client.nextUpdate(
    (update, { sessionId: of }) => of === sessionId && isCommandList(update),
    after,
  );
  const commands = frame.update["availableCommands"] as JsonObject[];
  return commands.map((one) => [one["name"], one["description"], member(one, "input")["hint"]]);
}

const BUILTINS = ["compact", "help", "model", "permissions"];

/** The list without the commands every session has. */
async function ofWorkspace(client: AcpClient, sessionId: string): Promise<unknown[][]> {
  const all = await offered(client, sessionId);
  assertEquals(all.slice(0, BUILTINS.length).map(([name]) => name), BUILTINS);
  return all.slice(BUILTINS.length);
}

/** What the model was sent as the last message of a request. */
function lastMessage(model: ModelServer, request = model.requests.length - 1): string {
  const { messages } = model.requests[request]!.body as { messages: { content: string }[] };
  return messages.at(-1)!.content;
}

function rolesOf(model: ModelServer, request: number): string[] {
  const { messages } = model.requests[request]!.body as { messages: { role: string }[] };
  return messages.map(({ role }) => role);
}

Deno.test("the commands follow the response of session/new, session/load and session/resume", async () => {
  await using agent = await startAgent({ files: { ".claude/commands/a.md": "Do a" } });
  const { client, workspace } = agent;
  const opened = await Promise.all(Array.from({ length: 10 }, async () => {
    const answered = await client.request("session/new", { cwd: workspace, mcpServers: [] });
    assert(answered.type === "result");
    return { sessionId: String(answered.result["sessionId"]), index: answered.index };
  }));
  for (const { sessionId, index } of opened) {
    assertEquals(await ofWorkspace(client, sessionId), [["a", "Do a", undefined]]);
    const [first, ...more] = lists(client, sessionId);
    assertLess(index, first!.index);
    assertEquals(more, []);
  }
  for (const [at, method] of ["session/load", "session/resume"].entries()) {
    const { sessionId } = opened[at]!;
    await client.prompt(sessionId, "/help");
    await client.call("session/close", { sessionId });
    const params = { sessionId, cwd: workspace, mcpServers: [] };
    const answered = await client.request(method, params);
    assert(answered.type === "result", JSON.stringify(answered));
    await offered(client, sessionId, answered.index);
    assertEquals(lists(client, sessionId).length, 2);
    assertLess(answered.index, lists(client, sessionId)[1]!.index);
  }
});

Deno.test("a session that cannot be opened sends no commands", async () => {
  await using agent = await startAgent();
  const { client, workspace } = agent;
  const sessionId = crypto.randomUUID();
  const answered = await client.request("session/load", {
    sessionId,
    cwd: workspace,
    mcpServers: [],
  });
  assertEquals(answered.type, "error");
  await offered(client, await agent.newSession());
  assertEquals(lists(client, sessionId), []);
});

Deno.test("templates are offered by name, description and hint; what is none is passed over", async () => {
  await using agent = await startAgent({
    files: {
      ".agents/commands/fix.md":
        "---\ndescription: >-\n  Fix an\n  issue\nargument-hint: issue number\n---\nFix $1.\n",
      ".claude/commands/fix.md": "Another fix",
      ".claude/commands/plain.md": "# Look around\n\nLook at everything.\n",
      ".claude/commands/pair.md": "---\r\nargument-hint: [from] [to]\r\n---\r\nFrom $1 to $2\r\n",
      ".claude/commands/list.md": "---\nargument-hint: [file]\ndescription: 7\n---\nRead it\n",
      ".claude/commands/git/pr/open.md": "Open $ARGUMENTS",
      ".claude/commands/model.md": "Not the built-in one",
      ".claude/commands/two words.md": "x",
      ".claude/commands/empty.md": "---\ndescription: Nothing\n---\n",
      ".claude/commands/notes.txt": "x",
      ".claude/commands/long.md": "x".repeat(64_001),
      ".claude/commands/a/b/c/d/deep.md": "x",
      "sub/.claude/commands/below.md": "x",
    },
  });
  assertEquals(await ofWorkspace(agent.client, await agent.newSession()), [
    ["fix", "Fix an issue", "issue number"],
    ["git:pr:open", "Open $ARGUMENTS", "arguments"],
    ["list", "7", "[file]"],
    ["pair", "From $1 to $2", "[from] [to]"],
    ["plain", "Look around", undefined],
  ]);
});

Deno.test("a link that leads out of the workspace is not followed, one within it is", async () => {
  await using agent = await startAgent({
    files: { ".claude/commands/real.md": "Inside.", "prompts/shared.md": "Shared." },
  });
  await Deno.mkdir(`${agent.home}/private`);
  await Deno.writeTextFile(`${agent.home}/private/secret.md`, "Outside.");
  for (
    const [target, name] of [
      [`${agent.home}/private/secret.md`, "secret.md"],
      [`${agent.home}/private`, "folder"],
      [agent.path(".claude"), "loop"],
      [agent.path("nothing"), "dangling.md"],
      ["../../prompts/shared.md", "linked.md"],
    ] as const
  ) await Deno.symlink(target, agent.path(`.claude/commands/${name}`));
  await Deno.symlink(agent.home, agent.path(".agents"));
  await Deno.mkdir(`${agent.home}/commands`);
  await Deno.writeTextFile(`${agent.home}/commands/outside.md`, "Outside.");
  await new Deno.Command("mkfifo", { args: [agent.path(".claude/commands/pipe.md")] }).output();
  const names = (await ofWorkspace(agent.client, await agent.newSession())).map(([name]) => name);
  assertEquals(names.filter((name) => !String(name).includes("loop")), ["linked", "real"]);
});

Deno.test("commands are bounded in number", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 150 }, (_, n) => [`.claude/commands/c${n}.md`, `Do ${n}`]),
  );
  await using agent = await startAgent({ files });
  assertEquals((await ofWorkspace(agent.client, await agent.newSession())).length, 100);
});

const CASES: readonly (readonly [string, string, readonly Json[] | string, string])[] = [
  ["$ARGUMENTS", "Fix <$ARGUMENTS>.", "/c  two  words ", "Fix <two  words>."],
  ["words", "$2 then $1, $3.", "/c one 'it is' ", "it is then one, ."],
  ["what is typed is not expanded again", "$1 $ARGUMENTS", "/c $2 $1", "$2 $2 $1"],
  ["arguments without a place", "Do it.", "/c now", "Do it.\n\nArguments: now"],
  ["no arguments", "Do it: $ARGUMENTS", "/c", "Do it: "],
  ["several lines", "<$ARGUMENTS>", "/c a\nb", "<a\nb>"],
  ["other dollars", "$HOME $0 $ARGUMENTSX $1", "/c a", "$HOME $0 $ARGUMENTSX a"],
  [
    "a link",
    "Read $1 for $2.",
    [
      { type: "text", text: "/c " },
      { type: "resource_link", uri: "file:///a/b.ts", name: "b.ts" },
      { type: "text", text: " bugs" },
    ],
    `Read /a/b.ts for bugs.\n[resource_link name="b.ts" uri="file:///a/b.ts"]\n`,
  ],
  [
    "what is embedded",
    "Read $1.",
    [
      { type: "text", text: "/c " },
      { type: "resource", resource: { uri: "file:///a/b.ts", text: "let b;" } },
    ],
    `Read /a/b.ts.\n<resource uri="file:///a/b.ts">\nlet b;\n</resource>\n`,
  ],
];

Deno.test("the model gets the expansion of a template", async () => {
  await using model = ModelServer.start([], { respond: () => answer(text("ok")) });
  await using agent = await startAgent({ model });
  await Deno.mkdir(agent.path(".agents/commands"), { recursive: true });
  for (const [name, template, prompt, sent] of CASES) {
    await Deno.writeTextFile(agent.path(".agents/commands/c.md"), template);
    const answered = await agent.client.prompt(await agent.newSession(), prompt);
    assert(answered.type === "result", JSON.stringify(answered));
    assertEquals(lastMessage(model), sent, name);
  }
});

Deno.test("what was typed is shown and replayed; a later process sends what was expanded", async () => {
  await using model = ModelServer.start([], { respond: () => answer(text("ok")) });
  await using agent = await startAgent({
    model,
    files: { ".claude/commands/fix.md": "Fix issue $1 first." },
  });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "/fix 12");
  const live = mergeChunks(agent.client.updatesOf(sessionId));
  await agent.client.close();
  await Deno.remove(agent.path(".claude/commands/fix.md"));

  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const replayed = second.updatesOf(sessionId);
  assertEquals(chunkText(replayed, "user_message_chunk"), "/fix 12");
  const rest = replayed.filter((update) => update["sessionUpdate"] !== "user_message_chunk");
  assertEquals(mergeChunks(rest), live);
  await second.prompt(sessionId, "/fix 13");
  const { messages } = model.requests[1]!.body as { messages: { content: string }[] };
  assertEquals(messages[1]!.content, "Fix issue 12 first.");
  assertEquals(messages.at(-1)!.content, "/fix 13", "it is no command any more");
});

Deno.test("a prompt that only looks like a command goes to the model as it is", async () => {
  await using model = ModelServer.start([], { respond: () => answer(text("ok")) });
  await using agent = await startAgent({ model, files: { ".claude/commands/etc.md": "No" } });
  const sessionId = await agent.newSession();
  for (
    const prompt of ["/etc/hosts what is it?", "/unknown x", "/", "/ help", " /help", "/HELP", "//"]
  ) {
    await agent.client.prompt(sessionId, prompt);
    assertEquals(lastMessage(model), prompt);
  }
  await agent.client.close();
  const logged = await readLog(agent.kv, sessionId);
  assert(!JSON.stringify(logged).includes("expanded"));
});

Deno.test("built-in commands answer without a model, live as in the replay", async () => {
  await using agent = await startAgent({
    files: { ".claude/commands/fix.md": "Fix issue $1 first." },
  });
  const { client } = agent;
  const sessionId = await agent.newSession();
  for (const prompt of ["/help", "/model", "/permissions", "/help", "/permissions yolo"]) {
    const answered = await client.prompt(sessionId, prompt);
    assert(answered.type === "result", JSON.stringify(answered));
    assertEquals(answered.result, { stopReason: "end_turn" });
  }
  const shown = chunkText(client.updatesOf(sessionId));
  assertEquals(shown.split("- `/fix arguments`: Fix issue $1 first.\n").length, 3);
  assertStringIncludes(shown, "There is no model to choose from.");
  assertStringIncludes(shown, "The permission preset is `workspace-write`.");
  assertStringIncludes(shown, "`/permissions danger-full-access`: Commands and edits run without");
  assertStringIncludes(shown, 'There is no permission preset "yolo".');
  const live = mergeChunks(client.updatesOf(sessionId));
  await client.close();

  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const replayed = second.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] !== "user_message_chunk");
  assertEquals(mergeChunks(replayed), live);
});

Deno.test("/model and /permissions choose as the client does, and tell it", async () => {
  await using model = ModelServer.start([], { respond: () => answer(text("ok")) });
  await using agent = await startAgent({ model });
  const { client } = agent;
  const sessionId = await agent.newSession();
  const chosen = () =>
    client.updatesOf(sessionId)
      .filter((update) => update["sessionUpdate"] === "config_option_update")
      .map((update) =>
        (update["configOptions"] as JsonObject[]).map(({ currentValue }) => currentValue).slice(
          0,
          2,
        )
      );
  await client.prompt(sessionId, "/model deepseek/deepseek-v4-pro");
  assertEquals(chosen(), [["workspace-write", "deepseek/deepseek-v4-pro"]]);
  await client.prompt(sessionId, "/model deepseek-v4-pro");
  await client.prompt(sessionId, "/model nothing");
  assertEquals(chosen().length, 1, "nothing changed");
  await client.prompt(sessionId, "/permissions danger-full-access");
  assertEquals(chosen()[1], ["danger-full-access", "deepseek/deepseek-v4-pro"]);
  assertEquals(model.requests.length, 0);
  await client.prompt(sessionId, "hi");
  assertEquals(model.requests[0]!.body["model"], "deepseek-v4-pro");
  assertEquals(lastMessage(model), "hi", "the commands are not told to the model");
  assertEquals(rolesOf(model, 0), ["system", "user"]);
  assertEquals(
    client.updatesOf(sessionId).filter((one) => one["sessionUpdate"] === "session_info_update")
      .map((one) => one["title"]),
    ["hi"],
    "the session is not named after a setting",
  );
  await client.close();

  const logged = await readLog(agent.kv, sessionId);
  const events = logged.map(({ type }) => type).slice(0, 5);
  assertEquals(events, [
    "turn/start",
    "user/message",
    "model/selected",
    "session/notice",
    "turn/end",
  ]);
  const second = await agent.spawn();
  const loaded = await second.call("session/load", {
    sessionId,
    cwd: agent.workspace,
    mcpServers: [],
  });
  const values = (loaded["configOptions"] as JsonObject[]).map((one) => one["currentValue"]);
  assertEquals(values.slice(0, 2), ["danger-full-access", "deepseek/deepseek-v4-pro"]);
});

Deno.test("the list is read anew with each turn, and sent when it changed", async () => {
  await using agent = await startAgent({ files: { ".claude/commands/a.md": "Do a" } });
  const { client } = agent;
  const sessionId = await agent.newSession();
  await offered(client, sessionId);
  await client.prompt(sessionId, "!true");
  await Deno.writeTextFile(agent.path(".claude/commands/a.md"), "Do a\n\nand more");
  await client.prompt(sessionId, "!true");
  assertEquals(lists(client, sessionId).length, 1);
  await Deno.writeTextFile(agent.path(".claude/commands/b.md"), "Do b");
  const answered = await client.prompt(sessionId, "/help");
  const [first, second] = lists(client, sessionId);
  assertLess(first!.index, second!.index);
  assertLess(second!.index, answered.index);
  assertStringIncludes(chunkText(client.updatesOf(sessionId)), "- `/b`: Do b\n");
});

Deno.test("/compact keeps what a template told the model, not what was typed for it", async () => {
  await using model = ModelServer.start([
    answer(text("Plum.")),
    answer(text("They like plums.")),
    answer(text("Yes.")),
  ]);
  await using agent = await startAgent({
    model,
    files: { ".claude/commands/word.md": "Choose the word $1." },
  });
  const { client } = agent;
  const sessionId = await agent.newSession();
  await client.prompt(sessionId, "/word plum");
  const answered = await client.prompt(sessionId, "/compact");
  assert(answered.type === "result", JSON.stringify(answered));
  await client.prompt(sessionId, "Is it still so?");
  const sent = lastMessage(model, 2);
  for (const part of ["Choose the word plum.", "They like plums.", "Is it still so?"]) {
    assertStringIncludes(sent, part);
  }
  assert(!sent.includes("/compact") && !sent.includes("/word"), sent);
  assertEquals(rolesOf(model, 2), ["system", "user"]);
});

Deno.test("an expansion that would be too long is refused in words", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({
    model,
    files: { ".claude/commands/many.md": "$ARGUMENTS ".repeat(5_000) },
  });
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(sessionId, `/many ${"x".repeat(10_000)}`);
  assert(answered.type === "error");
  assertEquals(answered.error.code, -32603);
  assertStringIncludes(answered.error.message, `"/many" with these arguments makes more than`);
  assertEquals(model.requests.length, 0);
});

Deno.test("a template's turn can be cancelled, and the next one works", async () => {
  await using model = ModelServer.start([hang(), answer(text("after"))]);
  await using agent = await startAgent({ model, files: { ".claude/commands/a.md": "Do a" } });
  const sessionId = await agent.newSession();
  const pending = agent.client.prompt(sessionId, "/a");
  await model.request(0);
  await agent.client.notify("session/cancel", { sessionId });
  const answered = await pending;
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "cancelled" });
  await agent.client.prompt(sessionId, "/a");
  assertEquals(lastMessage(model), "Do a\n\nDo a");
});
