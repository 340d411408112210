import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { readSettings } from "../../acp/settings.ts";
import { type Frame, member } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

const TOOL = "ask_user_question";
const FORMS = { clientCapabilities: { elicitation: { form: {} } } };
const FREE = { question: "What name?" };
const SINGLE = {
  question: "Which database?",
  header: "Database",
  options: [{ label: "Postgres", description: "A server" }, { label: "SQLite" }],
};
const MULTI = { ...SINGLE, multiSelect: true };

function start(model: ModelServer, env: Record<string, string> = {}): Promise<AgentWorld> {
  return startAgent({ model, env, initialize: FORMS });
}

/** Lets the model ask, answers as the client, and returns what each side saw. */
async function ask(
  agent: AgentWorld,
  model: ModelServer,
  questions: readonly JsonObject[],
  responses: readonly JsonObject[],
) {
  const { client } = agent;
  const forms: JsonObject[] = [];
  client.handle("elicitation/create", (params) => {
    forms.push(params);
    return responses[forms.length - 1]!;
  });
  const before = model.requests.length;
  model.push(
    answer(call(`call-${before}`, TOOL, { questions: [...questions] })),
    answer(text(".")),
  );
  const sessionId = await agent.newSession();
  const answered = await client.prompt(sessionId, "ask me");
  assertEquals(answered.type, "result", JSON.stringify(answered));
  const updates = client.updatesOf(sessionId);
  const card = updates.findLast((one) => one["sessionUpdate"] === "tool_call_update");
  return { sessionId, forms, told: toolResult(model, before + 1), card: card!, updates };
}

/** The last tool result in a model request. */
function toolResult(model: ModelServer, request: number): string {
  const messages = model.requests[request]!.body["messages"] as JsonObject[];
  return String(messages.findLast(({ role }) => role === "tool")?.["content"]);
}

function toolNames(model: ModelServer, request: number): string[] {
  const tools = model.requests[request]!.body["tools"] as JsonObject[];
  return tools.map((tool) => String(member(tool, "function")["name"]));
}

function property({ requestedSchema }: JsonObject, name: string): JsonObject {
  return member(requestedSchema, "properties", name);
}

function sent(frames: readonly Frame[], method: string): Frame[] {
  return frames.filter(({ message }) => message?.["method"] === method);
}

Deno.test("a question becomes a form on the session and the call that asks", async () => {
  await using model = ModelServer.start([]);
  await using agent = await start(model);
  const free = await ask(agent, model, [FREE], [{ action: "accept", content: { custom: "dsh" } }]);
  const toolCallId =
    free.updates.find((one) => one["sessionUpdate"] === "tool_call")!["toolCallId"];
  assertEquals(free.forms, [{
    mode: "form",
    sessionId: free.sessionId,
    toolCallId: toolCallId!,
    message: "What name?",
    requestedSchema: {
      type: "object",
      title: "Question",
      properties: { custom: { type: "string", title: "What name?" } },
      required: ["custom"],
    },
  }]);
  assertEquals(free.told, "Question: What name?\nThe user wrote: dsh");
  assertEquals(free.card["status"], "completed");
  assert(toolNames(model, 0).includes(TOOL));
  const frames = agent.client.frames;
  const [form] = sent(frames, "elicitation/create");
  const card = agent.client.updates.find(({ update }) => update["sessionUpdate"] === "tool_call")!;
  assertLess(card.index, form!.index, "the card is there before its question");

  const single = await ask(agent, model, [{ ...SINGLE, detail: "Hard to change." }], [
    { action: "accept", content: { choice: "Postgres" } },
  ]);
  assertEquals(single.forms[0]!["message"], "Which database?\n\nHard to change.");
  assertEquals(property(single.forms[0]!, "choice")["oneOf"], [
    { const: "Postgres", title: "Postgres: A server" },
    { const: "SQLite", title: "SQLite" },
  ]);
  assertEquals(property(single.forms[0]!, "custom")["type"], "string");
  assertEquals(member(single.forms[0], "requestedSchema")["required"], []);
  assertStringIncludes(single.told, `The user chose: "Postgres"`);

  const multi = await ask(agent, model, [MULTI], [
    { action: "accept", content: { choice: ["Postgres", "SQLite"] } },
  ]);
  assertEquals(property(multi.forms[0]!, "choice")["type"], "array");
  assertStringIncludes(multi.told, `The user chose: "Postgres", "SQLite"`);

  const custom = await ask(agent, model, [SINGLE], [
    { action: "accept", content: { choice: "SQLite", custom: "Deno KV" } },
  ]);
  assertStringIncludes(custom.told, "The user wrote: Deno KV");
  assert(!custom.told.includes("SQLite"));
});

Deno.test("whatever else the client answers ends the question, not the turn", async () => {
  await using model = ModelServer.start([]);
  await using agent = await start(model);
  const cases: [JsonObject, string, string][] = [
    [{ action: "decline" }, "The user declined", "completed"],
    [{ action: "accept", content: {} }, "without choosing an option", "completed"],
    [{ action: "cancel" }, "was dismissed", "failed"],
    [{ action: "_later", content: { choice: "SQLite" } }, "was dismissed", "failed"],
    [{ action: "accept", content: { choice: "MySQL" } }, `not offered: "MySQL"`, "failed"],
    [{ action: "accept", content: { choice: ["SQLite"] } }, "is no text", "failed"],
    [{ action: "accept", content: 5 }, "content that is no object", "failed"],
    [{}, "was dismissed", "failed"],
  ];
  for (const [response, words, status] of cases) {
    const { told, card } = await ask(agent, model, [SINGLE], [response]);
    assertStringIncludes(told, words);
    assertEquals(card["status"], status, words);
  }
  const { told } = await ask(agent, model, [SINGLE], []);
  assertStringIncludes(told, "No answer could be had");
});

Deno.test("a client that fails to show a question is named as the reason", async () => {
  await using model = ModelServer.start([
    answer(call("c", TOOL, { questions: [FREE] })),
    answer(text(".")),
  ]);
  await using agent = await start(model);
  // It declared forms, but answers "method not found".
  await agent.client.prompt(await agent.newSession(), "ask me");
  const told = toolResult(model, 1);
  assertStringIncludes(told, "the client did not show it");
  assertStringIncludes(told, "Method not found");
});

Deno.test("several questions are asked one after the other", async () => {
  await using model = ModelServer.start([]);
  await using agent = await start(model);
  const open: string[] = [];
  agent.client.handle("elicitation/create", ({ message }) => {
    open.push(String(message));
    return open.length === 1
      ? { action: "decline" }
      : { action: "accept", content: { choice: ["SQLite"] } };
  });
  model.push(answer(call("c", TOOL, { questions: [FREE, MULTI] })), answer(text(".")));
  await agent.client.prompt(await agent.newSession(), "ask me");
  const told = toolResult(model, 1);
  assertEquals(open, ["What name?", "Which database?"]);
  assertStringIncludes(told, "Question 1 of 2: What name?\nThe user declined");
  assertStringIncludes(told, `Question 2 of 2: Which database?\nThe user chose: "SQLite"`);
  const [first, second] = sent(agent.client.frames, "elicitation/create");
  assert(first!.message!["id"] !== second!.message!["id"]);
});

Deno.test("a cancel while a mute client is asked answers the prompt and withdraws the form", async () => {
  await using model = ModelServer.start([
    answer(call("c", TOOL, { questions: [FREE, SINGLE] })),
    answer(text("next")),
  ]);
  await using agent = await start(model);
  const { client } = agent;
  const late = Promise.withResolvers<JsonObject>();
  client.handle("elicitation/create", () => late.promise);
  const sessionId = await agent.newSession();
  const pending = client.prompt(sessionId, "ask me");
  const form = await client.until(() => sent(client.frames, "elicitation/create")[0], "a form");
  const cancelledAt = performance.now();
  await client.notify("session/cancel", { sessionId });
  const answered = await pending;
  assertLess(answered.at - cancelledAt, 2_000);
  assertEquals(answered.type === "result" && answered.result, { stopReason: "cancelled" });
  const withdrawn = await client.until(() => sent(client.frames, "$/cancel_request")[0], "cancel");
  assertEquals(withdrawn.message!["params"], { requestId: form.message!["id"]! });
  assertEquals(sent(client.frames, "elicitation/create").length, 1, "the second is not asked");

  // An answer that comes too late does no harm, and the session goes on.
  late.resolve({ action: "accept", content: { custom: "late" } });
  const next = await client.prompt(sessionId, "go on");
  assertEquals(next.type === "result" && next.result, { stopReason: "end_turn" });
  assertStringIncludes(toolResult(model, 1), "was dismissed");
});

Deno.test("a mute client ends in a decline at the deadline, and the turn goes on", async () => {
  await using model = ModelServer.start([
    answer(call("c", TOOL, { questions: [FREE, SINGLE] })),
    answer(text("done without")),
  ]);
  await using agent = await start(model, { DSH_QUESTION_TIMEOUT: "1" });
  const { client } = agent;
  client.handle("elicitation/create", () => new Promise(() => {}));
  const answered = await client.prompt(await agent.newSession(), "ask me");
  assertEquals(answered.type === "result" && answered.result, { stopReason: "end_turn" });
  const told = toolResult(model, 1);
  assertStringIncludes(told, "did not answer in time");
  assertStringIncludes(told, "Not asked");
  const [form] = sent(client.frames, "elicitation/create");
  const [withdrawn] = sent(client.frames, "$/cancel_request");
  assertEquals(withdrawn!.message!["params"], { requestId: form!.message!["id"]! });
});

Deno.test("the end of the program does not wait for a mute client", async () => {
  await using model = ModelServer.start([answer(call("c", TOOL, { questions: [FREE] }))]);
  await using agent = await start(model);
  const { client } = agent;
  client.handle("elicitation/create", () => new Promise(() => {}));
  const pending = client.prompt(await agent.newSession(), "ask me");
  pending.catch(() => {
    // The program may end before it answers.
  });
  await client.until(() => sent(client.frames, "elicitation/create")[0], "a form");
  const closedAt = performance.now();
  const exit = await client.close();
  assertEquals(exit.code, 0);
  assertLess(exit.at - closedAt, 2_500);
});

Deno.test("a client without forms has no question tool", async () => {
  for (const elicitation of [undefined, null, {}, { form: null }, { url: {} }]) {
    await using model = ModelServer.start([
      answer(call("c", TOOL, { questions: [FREE] })),
      answer(text(".")),
    ]);
    const capabilities = elicitation === undefined ? {} : { elicitation };
    await using agent = await startAgent({
      model,
      initialize: { clientCapabilities: capabilities },
    });
    const { client } = agent;
    const answered = await client.prompt(await agent.newSession(), "ask me");
    assertEquals(answered.type, "result");
    assert(!toolNames(model, 0).includes(TOOL), JSON.stringify(elicitation));
    assertStringIncludes(toolResult(model, 1), `Error: There is no tool "${TOOL}"`);
    assertEquals(sent(client.frames, "elicitation/create"), []);
  }
});

Deno.test("what the client declared when the session opened counts, also for a loaded one", async () => {
  await using model = ModelServer.start([answer(text("1")), answer(text("2")), answer(text("3"))]);
  await using agent = await start(model);
  const { client } = agent;
  const sessionId = await agent.newSession();
  await client.initialize({ clientCapabilities: {} });
  await client.prompt(sessionId, "one");
  assert(toolNames(model, 0).includes(TOOL));
  await client.prompt(await agent.newSession(), "two");
  assert(!toolNames(model, 1).includes(TOOL));
  await client.call("session/close", { sessionId });
  await client.initialize(FORMS);
  await client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  await client.prompt(sessionId, "three");
  assert(toolNames(model, 2).includes(TOOL));
});

Deno.test("replayed questions look as they did live", async () => {
  await using model = ModelServer.start([]);
  await using agent = await start(model);
  const { client } = agent;
  const { sessionId } = await ask(agent, model, [FREE, SINGLE], [
    { action: "accept", content: { custom: "dsh" } },
    { action: "decline" },
  ]);
  const cards = (after: number) =>
    client.updatesOf(sessionId, after)
      .filter(({ sessionUpdate }) => String(sessionUpdate).startsWith("tool_call"));
  const live = cards(-1);
  await client.call("session/close", { sessionId });
  const from = client.frames.length - 1;
  await client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  assertEquals(cards(from), live);
  assertStringIncludes(JSON.stringify(live.at(-1)), "→ (declined)");
  assertEquals(sent(client.frames.slice(from), "elicitation/create"), []);
});

Deno.test("readSettings() reads DSH_QUESTION_TIMEOUT in whole seconds", () => {
  const read = (value: string) =>
    readSettings({
      args: [],
      env: { HOME: "/home/user", DSH_QUESTION_TIMEOUT: value },
      os: "linux",
    });
  for (const [value, milliseconds] of [["", 600_000], ["30", 30_000]] as const) {
    const invocation = read(value);
    assert(invocation.type === "serve");
    assertEquals(invocation.settings.questionTimeoutMs, milliseconds);
  }
  for (const value of ["0", "-1", "1.5", "soon", "86401", "Infinity"]) {
    const invocation = read(value);
    assert(invocation.type === "invalid", value);
    assertStringIncludes(invocation.message, `DSH_QUESTION_TIMEOUT`);
    assertStringIncludes(invocation.message, `"${value}"`);
  }
});
