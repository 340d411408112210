import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { chunkText, mergeChunks } from "../helpers/frames.ts";
import { historyProblems } from "../helpers/history_rules.ts";
import { ModelServer } from "../helpers/model_server.ts";
import {
  answer,
  call,
  ending,
  failure,
  hang,
  type ModelStep,
  text,
} from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";
import { readLog } from "../helpers/stored_log.ts";

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

function messages(model: ModelServer, request: number): Message[] {
  return model.requests[request]!.body["messages"] as unknown as Message[];
}

/** An answer after which the window of 128,000 tokens is nearly full. */
function full(...steps: readonly ModelStep[]) {
  return ending(answer(...steps), { usage: { prompt: 900_000, completion: 100 } });
}

const TOO_LONG = failure(400, {
  message: "This model's maximum context length is 131072 tokens. However, you requested 140000",
});

const NOTICE = "[The conversation so far was summarised to make room.]\n\n";

const CLIENTS: readonly (readonly [string, JsonObject])[] = [
  ["that shows compactions", { session: { compaction: {} } }],
  ["that does not", {}],
];

for (const [name, clientCapabilities] of CLIENTS) {
  Deno.test(`a conversation that is nearly too long is summarised, for a client ${name}`, async () => {
    await using model = ModelServer.start([
      full(text("Looking."), call("r", "read", { file_path: "a.txt" })),
      answer(text("You said hello; I read a.txt.")),
      answer(text("Done.")),
      answer(text("Next.")),
    ]);
    await using agent = await startAgent({
      model,
      files: { "a.txt": "x\n".repeat(4_000) },
      initialize: { clientCapabilities },
    });
    const sessionId = await agent.newSession();
    const answered = await agent.client.prompt(sessionId, "Say hello");
    assert(answered.type === "result", JSON.stringify(answered));
    assertEquals(answered.result["stopReason"], "end_turn");
    await agent.client.prompt(sessionId, "Go on");

    const asked = messages(model, 1);
    assertStringIncludes(JSON.stringify(asked.at(-1)), "Summarise this conversation");
    assertStringIncludes(JSON.stringify(asked), "characters left out");
    const after = messages(model, 2);
    assertEquals(after.map(({ role }) => role), ["system", "user"]);
    assertStringIncludes(JSON.stringify(after), "Say hello");
    assertStringIncludes(JSON.stringify(after), "You said hello; I read a.txt.");
    assertEquals(messages(model, 3).map(({ role }) => role), [
      "system",
      "user",
      "assistant",
      "user",
    ]);
    assertEquals(historyProblems(await readLog(agent.kv, sessionId)), []);

    const live = mergeChunks(agent.client.updatesOf(sessionId));
    const shown = live.filter((update) => update["sessionUpdate"] === "compaction_update");
    if ("session" in clientCapabilities) {
      const compactionId = shown[0]?.["compactionId"];
      const summary = [{ type: "text", text: "You said hello; I read a.txt." }];
      const sessionUpdate = "compaction_update";
      assertEquals(shown, [
        { sessionUpdate, compactionId, status: "in_progress" },
        { sessionUpdate, compactionId, status: "completed", summary },
      ] as JsonObject[]);
    } else {
      assertEquals(shown, []);
      assertStringIncludes(chunkText(live), NOTICE);
    }

    await agent.client.close();
    const second = await agent.spawn();
    await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
    const isUser = (update: JsonObject) => update["sessionUpdate"] === "user_message_chunk";
    const replayed = second.updatesOf(sessionId).filter((update) => !isUser(update));
    assertEquals(mergeChunks(replayed), mergeChunks(agent.client.updatesOf(sessionId)));
  });
}

Deno.test("a conversation that the provider finds too long is summarised, shorter if need be", async () => {
  await using model = ModelServer.start([
    answer(text("One.")),
    TOO_LONG,
    TOO_LONG,
    answer(text("The summary.")),
    answer(text("Two.")),
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "First");
  const answered = await agent.client.prompt(sessionId, "Second");
  assert(answered.type === "result", JSON.stringify(answered));
  assertStringIncludes(chunkText(agent.client.updatesOf(sessionId)), `${NOTICE}Two.`);
  assertEquals(messages(model, 4).map(({ role }) => role), ["system", "user"]);
  assertEquals(historyProblems(await readLog(agent.kv, sessionId)), []);
});

Deno.test("where no summary can be had the conversation stays, and the turn says what is wrong", async () => {
  await using model = ModelServer.start([
    full(text("One.")),
    failure(400, { message: "no summaries today" }),
    answer(text("Two.")),
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "First");
  const second = await agent.client.prompt(sessionId, "Second");
  assert(second.type === "result", JSON.stringify(second));
  assertStringIncludes(
    chunkText(agent.client.updatesOf(sessionId)),
    "[The conversation was not summarised: ",
  );
  assertEquals(messages(model, 2).map(({ role }) => role), ["system", "user", "assistant", "user"]);
  const third = await agent.client.prompt(sessionId, "Third");
  assert(third.type === "error");
  assertStringIncludes(third.error.message, "maximum context length");
  assertEquals(historyProblems(await readLog(agent.kv, sessionId)), []);
});

Deno.test("a cancel reaches the request for a summary", async () => {
  await using model = ModelServer.start([full(text("One.")), hang(), answer(text("Two."))]);
  await using agent = await startAgent({
    model,
    initialize: { clientCapabilities: { session: { compaction: {} } } },
  });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "First");
  const running = agent.client.prompt(sessionId, "Second");
  await model.request(1);
  await agent.client.notify("session/cancel", { sessionId });
  const answered = await running;
  assert(answered.type === "result");
  assertEquals(answered.result["stopReason"], "cancelled");
  const statuses = agent.client.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] === "compaction_update")
    .map((update) => update["status"]);
  assertEquals(statuses, ["in_progress", "cancelled"]);
  assertEquals(historyProblems(await readLog(agent.kv, sessionId)), []);
});

Deno.test("the window of a model that is not known by name is a setting", async () => {
  const usage = { prompt: 9_000, completion: 100 };
  await using model = ModelServer.start([
    ending(answer(text("One.")), { usage }),
    answer(text("Said one.")),
    answer(text("Two.")),
  ]);
  await using agent = await startAgent({
    model,
    provider: "openai",
    env: { DSH_CONTEXT_WINDOW: "10000" },
  });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "First");
  await agent.client.prompt(sessionId, "Second");
  assertStringIncludes(chunkText(agent.client.updatesOf(sessionId)), `${NOTICE}Two.`);
});

Deno.test("/compact makes room at once, where there is something to summarise", async () => {
  await using model = ModelServer.start([
    answer(text("One.")),
    answer(text("Said one.")),
    answer(text("Two.")),
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "/compact");
  const nothing = "There is nothing to summarise yet.";
  assertStringIncludes(chunkText(agent.client.updatesOf(sessionId)), nothing);
  assertEquals(model.requests.length, 0);
  await agent.client.prompt(sessionId, "First");
  const answered = await agent.client.prompt(sessionId, "/compact");
  assert(answered.type === "result", JSON.stringify(answered));
  await agent.client.prompt(sessionId, "Second");
  assertStringIncludes(chunkText(agent.client.updatesOf(sessionId)), `${NOTICE}Two.`);
  const after = messages(model, 2);
  assertEquals(after.map(({ role }) => role), ["system", "user"]);
  assert(!JSON.stringify(after).includes("/compact"));
  assertEquals(historyProblems(await readLog(agent.kv, sessionId)), []);
});
