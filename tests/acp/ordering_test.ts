import { assert, assertEquals, assertLess } from "@std/assert";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, hang, reasoning, text, wait } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

Deno.test("nothing about a session precedes its session/new response", async () => {
  await using agent = await startAgent();
  const { client } = agent;
  const notices = [{ name: "docs", command: "/bin/true", args: [], env: [] }];
  const created = await Promise.all(
    Array.from(
      { length: 20 },
      () => client.request("session/new", { cwd: agent.workspace, mcpServers: notices }),
    ),
  );
  for (const answered of created) {
    assert(answered.type === "result");
    const sessionId = answered.result["sessionId"];
    const first = client.updates.find((update) => update.sessionId === sessionId);
    assert(!first || first.index > answered.index);
  }
});

Deno.test("nothing of a turn follows its prompt response, over 100 prompts with a slow reader", async () => {
  await using model = ModelServer.start([], {
    respond: () => answer(reasoning("let me see"), text("some "), text("words ".repeat(200))),
  });
  await using agent = await startAgent({ model });
  const { client } = agent;
  const sessionId = await agent.newSession();
  for (let turn = 0; turn < 100; turn++) {
    client.pauseReading();
    const pending = client.prompt(sessionId, turn % 4 === 0 ? "!seq 500; echo done" : "hi");
    if (turn % 2 === 0) await client.notify("session/cancel", { sessionId: "another" });
    client.resumeReading();
    const answered = await pending;
    assertEquals(answered.type, "result", JSON.stringify(answered));
    const seen = client.updates.filter((update) => update.index > answered.index).length;
    assertEquals(seen, 0);
  }
  // A last round trip: whatever was late would be here now.
  const last = await client.prompt(sessionId, "!true");
  const late = client.updates.filter((update) => update.index > last.index);
  assertEquals(late, []);
});

Deno.test("session/cancel answers within 2 s when the model hangs", async () => {
  await using model = ModelServer.start([hang(), answer(text("after"))]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const pending = agent.client.prompt(sessionId, "hi");
  await model.request(0);
  const from = performance.now();
  await agent.client.notify("session/cancel", { sessionId });
  const answered = await pending;
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "cancelled" });
  assertLess(answered.at - from, 2_000);
  const next = await agent.client.prompt(sessionId, "and now");
  assert(next.type === "result");
  assertEquals(next.result, { stopReason: "end_turn" });
});

Deno.test("session/cancel reaches that session only", async () => {
  const gate = Promise.withResolvers<void>();
  await using model = ModelServer.start([], {
    respond: () => answer(text("one"), wait(gate.promise), text("two")),
  });
  await using agent = await startAgent({ model });
  const { client } = agent;
  const [cancelled, other] = [await agent.newSession(), await agent.newSession()];
  const first = client.prompt(cancelled, "hi");
  const second = client.prompt(other, "hi");
  for (const id of [cancelled, other]) {
    await client.nextUpdate((_, frame) => frame.sessionId === id);
  }
  await client.notify("session/cancel", { sessionId: cancelled });
  const stopped = await first;
  assert(stopped.type === "result");
  assertEquals(stopped.result, { stopReason: "cancelled" });
  gate.resolve();
  const ended = await second;
  assert(ended.type === "result");
  assertEquals(ended.result, { stopReason: "end_turn" });
});

Deno.test("$/cancel_request ends a prompt as cancelled", async () => {
  await using model = ModelServer.start([hang()]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const pending = agent.client.prompt(sessionId, "hi");
  await model.request(0);
  await agent.client.notify("$/cancel_request", { requestId: pending.id });
  const answered = await pending;
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "cancelled" });
});

Deno.test("a cancelled turn leaves a history the provider accepts", async () => {
  await using model = ModelServer.start([
    answer(text("I run it."), call("c1", "bash", { command: "sleep 60", description: "Sleep" })),
    answer(text("fine")),
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const pending = agent.client.prompt(sessionId, "go");
  await agent.client.nextUpdate((update) => update["sessionUpdate"] === "tool_call");
  await agent.client.notify("session/cancel", { sessionId });
  await pending;
  await agent.client.prompt(sessionId, "next");
  const { messages } = model.requests[1]!.body as { messages: { role: string }[] };
  assertEquals(messages.map(({ role }) => role), ["system", "user", "assistant", "tool", "user"]);
});

/** The lines of several messages, to be written at once. */
function frames(...messages: readonly unknown[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join("");
}

Deno.test("session/cancel does not reach a prompt that comes after it", async () => {
  await using model = ModelServer.start([], { respond: () => answer(text("hi")) });
  await using agent = await startAgent({ model, client: { strict: false } });
  const { client } = agent;
  const sessionId = await agent.newSession();
  const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } };
  for (let round = 0; round < 20; round++) {
    const id = `own-${round}`;
    const params = { sessionId, prompt: [{ type: "text", text: "hi" }] };
    const prompt = { jsonrpc: "2.0", id, method: "session/prompt", params };
    await client.writeRaw(frames(cancel, prompt));
    const answered = await client.until(
      () => client.frames.find(({ message }) => message?.["id"] === id)?.message ?? undefined,
      `the answer of round ${round}`,
    );
    assertEquals(answered["result"], { stopReason: "end_turn" });
  }
});

Deno.test("session/cancel reaches a prompt that was written with it", async () => {
  await using model = ModelServer.start([], { respond: () => hang() });
  await using agent = await startAgent({ model, client: { strict: false } });
  const { client } = agent;
  const sessionId = await agent.newSession();
  for (let round = 0; round < 20; round++) {
    const id = `own-${round}`;
    const params = { sessionId, prompt: [{ type: "text", text: "hi" }] };
    const prompt = { jsonrpc: "2.0", id, method: "session/prompt", params };
    const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } };
    await client.writeRaw(frames(prompt, cancel));
    const answered = await client.until(
      () => client.frames.find(({ message }) => message?.["id"] === id)?.message ?? undefined,
      `the answer of round ${round}`,
    );
    assertEquals(answered["result"], { stopReason: "cancelled" });
  }
});

Deno.test("what is written together with initialize is answered after it", async () => {
  await using agent = await startAgent({ initialize: false, client: { strict: false } });
  const { client } = agent;
  await client.writeRaw(frames(
    { jsonrpc: "2.0", id: "a", method: "initialize", params: { protocolVersion: 1 } },
    {
      jsonrpc: "2.0",
      id: "b",
      method: "session/new",
      params: { cwd: agent.workspace, mcpServers: [] },
    },
  ));
  const last = await client.until(
    () => client.frames.find(({ message }) => message?.["id"] === "b")?.message ?? undefined,
    "the answer to session/new",
  );
  assert("result" in last, JSON.stringify(last));
  assertEquals(client.frames[0]?.message?.["id"], "a");
});
