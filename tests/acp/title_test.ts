import { assertEquals } from "@std/assert";
import type { PromptContent } from "../../session/events.ts";
import { promptTitle } from "../../session/title.ts";
import type { JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { mergeChunks } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, failure, hang, type ModelTurn, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

function infos(client: AcpClient, sessionId: string): JsonObject[] {
  return client.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] === "session_info_update");
}

Deno.test("the first prompt names the session: live, in the list and in the replay alike", async () => {
  await using model = ModelServer.start([answer(text("Yes.")), answer(text("No."))]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const sessionId = await agent.newSession();
  assertEquals(infos(client, sessionId), []);
  await client.prompt(sessionId, "  Fix the parser\nIt fails on tabs.");
  await client.prompt(sessionId, "Something else");
  const [info, ...more] = infos(client, sessionId);
  const [listed] = (await client.call("session/list", {}))["sessions"] as JsonObject[];
  assertEquals([info?.["title"], more], ["Fix the parser", []]);
  assertEquals(listed?.["title"], "Fix the parser");
  const live = mergeChunks(client.updatesOf(sessionId));
  assertEquals(live[0], info, "the name comes before what the model says");
  await client.close();

  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const replayed = second.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] !== "user_message_chunk");
  assertEquals(mergeChunks(replayed), live);
  await second.prompt(sessionId, "!true");
  assertEquals(infos(second, sessionId).length, 1, "a name stays");
  const [relisted] = (await second.call("session/list", {}))["sessions"] as JsonObject[];
  assertEquals(relisted?.["title"], "Fix the parser");
});

Deno.test("a turn that fails names the session all the same, and so does a command", async () => {
  await using model = ModelServer.start([failure(400)]);
  await using agent = await startAgent({ model });
  const first = await agent.newSession();
  await agent.client.prompt(first, "Do it");
  assertEquals(infos(agent.client, first).map((info) => info["title"]), ["Do it"]);
  const second = await agent.newSession();
  await agent.client.prompt(second, "!echo a && echo b");
  assertEquals(infos(agent.client, second).map((info) => info["title"]), ["!echo a && echo b"]);
});

/** Answers the requests for a title by themselves, whatever the order in which requests come. */
function withTitles(title: ModelTurn, ...turns: readonly ModelTurn[]): ModelServer {
  const rest = [...turns];
  return ModelServer.start([], {
    respond: ({ body }) => body["model"] === "small" ? title : rest.shift(),
  });
}

const SMALL = { DSH_SMALL_MODEL: "deepseek/small" };

Deno.test("a small model names the session once, and nobody waits for it", async () => {
  await using model = withTitles(
    answer(text('"Tabs in the '), text('parser"\n')),
    answer(text("Yes.")),
    answer(text("No.")),
  );
  await using agent = await startAgent({ model, env: SMALL });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "Hello! Fix the parser please");
  await model.request(1);
  await Promise.all(model.requests.map(({ ended }) => ended));
  await agent.client.prompt(sessionId, "More");
  assertEquals(infos(agent.client, sessionId).map((info) => info["title"]), [
    "Hello! Fix the parser please",
    "Tabs in the parser",
  ]);
  const [listed] = (await agent.client.call("session/list", {}))["sessions"] as JsonObject[];
  assertEquals(listed?.["title"], "Tabs in the parser");
  assertEquals(model.requests.filter(({ body }) => body["model"] === "small").length, 1);
  const live = mergeChunks(agent.client.updatesOf(sessionId));
  await agent.client.close();
  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const replayed = second.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] !== "user_message_chunk");
  assertEquals(mergeChunks(replayed), live);
});

for (const [name, title] of [["hangs", hang()], ["fails", failure(500)]] as const) {
  Deno.test(`a small model that ${name} delays nothing and leaves the first line`, async () => {
    await using model = withTitles(title, answer(text("Yes.")));
    await using agent = await startAgent({ model, env: SMALL });
    const sessionId = await agent.newSession();
    const answered = await agent.client.prompt(sessionId, "Fix it");
    assertEquals(answered.type, "result");
    assertEquals(infos(agent.client, sessionId).map((info) => info["title"]), ["Fix it"]);
    await agent.client.call("session/close", { sessionId });
  });
}

const CASES: readonly (readonly [string, string, string | undefined])[] = [
  ["one line", "Fix it", "Fix it"],
  ["the first line that says something", "\n \t\n  Fix it  \r\nnow", "Fix it"],
  ["a command as it is", "!ls  -l | wc", "!ls  -l | wc"],
  ["80 characters whole", "x".repeat(80), "x".repeat(80)],
  ["81 characters cut", "x".repeat(81), `${"x".repeat(79)}…`],
  ["cut at a word", `${"word ".repeat(15)}beautiful day`, `${"word ".repeat(14)}word…`],
  ["cut just before a space", `${"x".repeat(79)} y`, `${"x".repeat(79)}…`],
  ["one long word after a short one", `a ${"x".repeat(100)}`, `a ${"x".repeat(77)}…`],
  ["Chinese, cut at a character", "终".repeat(100), `${"终".repeat(79)}…`],
  ["emoji stay whole", "👩‍👩‍👧‍👦".repeat(81), `${"👩‍👩‍👧‍👦".repeat(79)}…`],
  ["control characters", "a\u001b[31mb\u0000c\td", "a [31mb c d"],
  ["no change of direction", "a\u202eb\u2066c", "abc"],
  ["half a character", "a\ud800", "a\ufffd"],
  ["nothing", " \n\t", undefined],
];

for (const [name, prompt, title] of CASES) {
  Deno.test(`promptTitle() of ${name}`, () => {
    assertEquals(promptTitle([{ type: "text", text: prompt }]), title);
  });
}

Deno.test("promptTitle() joins texts, and takes a link's name only where there is no text", () => {
  const link: PromptContent = { type: "resource_link", uri: "file:///a.ts", name: "a.ts" };
  const say = (text: string): PromptContent => ({ type: "text", text });
  assertEquals(promptTitle([say("Look "), link, say("here")]), "Look here");
  assertEquals(promptTitle([link]), "a.ts");
  assertEquals(promptTitle([say(" "), { ...link, name: "\n" }]), undefined);
});

Deno.test("promptTitle() looks at the beginning of what is very long", () => {
  assertEquals(promptTitle([{ type: "text", text: "x".repeat(30_000_000) }])?.length, 80);
});
