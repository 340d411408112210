import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { mergeChunks } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

const FIRST = [
  { content: "Read the parser", status: "in_progress", priority: "high" },
  { content: "Fix it", status: "pending" },
];
const SECOND = [{ content: "Read the parser", status: "completed" }];

Deno.test("a plan is shown whole each time, and its replay equals the live run", async () => {
  await using model = ModelServer.start([
    answer(call("a", "todo_write", { todos: FIRST })),
    answer(call("b", "todo_write", { todos: SECOND }), call("c", "todo_write", { todos: [] })),
    answer(text("Done.")),
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "Fix the parser");
  const live = mergeChunks(agent.client.updatesOf(sessionId));
  assertEquals(live.filter(isPlan), [
    {
      sessionUpdate: "plan",
      entries: [
        { content: "Read the parser", status: "in_progress", priority: "high" },
        { content: "Fix it", status: "pending", priority: "medium" },
      ],
    },
    {
      sessionUpdate: "plan",
      entries: [{ content: "Read the parser", status: "completed", priority: "medium" }],
    },
    { sessionUpdate: "plan", entries: [] },
  ]);
  const cards = live.filter((update) => update["sessionUpdate"] === "tool_call");
  assertEquals(cards.map(({ title, kind, rawInput }) => [title, kind, rawInput]), [
    ["Plan: 0 of 2 done", "think", undefined],
    ["Plan: 1 of 1 done", "think", undefined],
    ["Plan: empty", "think", undefined],
  ]);
  const ends = live.filter((update) => update["status"] === "completed");
  assertEquals(ends.map(({ content }) => content), [[], [], []]);
  await agent.client.close();

  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const replayed = second.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] !== "user_message_chunk");
  assertEquals(mergeChunks(replayed), live);
});

Deno.test("a plan that breaks its bounds is refused, and none is shown", async () => {
  const step = (content: string) => ({ content, status: "pending" });
  await using model = ModelServer.start([
    answer(
      call("a", "todo_write", { todos: Array.from({ length: 101 }, () => step("one more")) }),
      call("b", "todo_write", { todos: [step("x".repeat(501))] }),
      call("c", "todo_write", { todos: [step(" ")] }),
    ),
    answer(text("Too much.")),
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "Plan everything");
  const updates = agent.client.updatesOf(sessionId);
  assertEquals(updates.filter(isPlan), []);
  assertEquals(updates.filter((update) => update["status"] === "failed").length, 3);
  const messages = model.requests[1]?.body["messages"] as JsonObject[];
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  assertEquals(results.map((result) => /todos/.test(String(result))), [true, true, true]);
});

function isPlan(update: JsonObject): boolean {
  return update["sessionUpdate"] === "plan";
}
