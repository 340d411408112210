import { assert, assertEquals } from "@std/assert";
import { chunkText } from "../../helpers/frames.ts";
import { ModelServer } from "../../helpers/model_server.ts";
import { answer, raw, text, wait } from "../../helpers/model_turn.ts";
import { startAgent } from "../../helpers/start_agent.ts";

Deno.test("events that say nothing are passed over", async () => {
  const nothing = ["data:\n\n", "data: {}\n\n", "data: null\n\n", 'data: {"choices":null}\n\n'];
  await using model = ModelServer.start([
    answer(
      ...nothing.map(raw),
      raw(": keep-alive\n\n"),
      text("one "),
      raw('event: ping\ndata: {"type":"ping"}\n\n'),
      text("two"),
      ...nothing.map(raw),
    ),
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(sessionId, "hi");
  assert(answered.type === "result", JSON.stringify(answered));
  assertEquals(chunkText(agent.client.updatesOf(sessionId)), "one two");
  assertEquals(model.requests.length, 1);
});

Deno.test("[DONE] ends the answer though the connection stays open", async () => {
  const never = new Promise<void>(() => {});
  const finish = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  await using model = ModelServer.start([
    answer(
      text("done"),
      raw(`data: ${JSON.stringify(finish)}\n\ndata: [DONE]\n\n`),
      wait(never),
    ),
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(sessionId, "hi");
  assert(answered.type === "result", JSON.stringify(answered));
  assertEquals(answered.result, { stopReason: "end_turn" });
});

Deno.test("an error among the events is not passed over", async () => {
  const error = { error: { message: "overloaded", type: "server_error" } };
  await using model = ModelServer.start([], {
    respond: () => answer(raw(`data: ${JSON.stringify(error)}\n\n`)),
  });
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(sessionId, "hi");
  assert(answered.type === "error");
  assert(answered.error.message.includes("overloaded"), answered.error.message);
});
