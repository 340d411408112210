import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { mergeChunks } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, ending, text } from "../helpers/model_turn.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

const PRICED = "deepseek/deepseek-v4-flash?window=1000&input=2&output=10&cached=0.5";

function usages(client: AcpClient, sessionId: string): JsonObject[] {
  return client.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] === "usage_update");
}

async function reload(agent: AgentWorld, sessionId: string): Promise<AcpClient> {
  await agent.client.close();
  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  return second;
}

Deno.test("each step tells the tokens in the window and the cost so far, a later process too", async () => {
  await using model = ModelServer.start([
    ending(answer(call("a", "read", { file_path: "a.txt" })), {
      usage: { prompt: 100, completion: 20, cached: 40 },
    }),
    ending(answer(text("Yes.")), { usage: { prompt: 200, completion: 10 } }),
    ending(answer(text("No.")), { usage: { prompt: 300, completion: 0 } }),
  ]);
  await using agent = await startAgent({
    model,
    files: { "a.txt": "a" },
    env: { DSH_MODELS: PRICED },
  });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "Look");
  const expected = [
    // 60 × 2 + 40 × 0.5 + 20 × 10 millionths, then 200 × 2 + 10 × 10 more.
    { used: 120, size: 1000, cost: { amount: 0.00034, currency: "USD" } },
    { used: 210, size: 1000, cost: { amount: 0.00084, currency: "USD" } },
  ].map((usage) => ({ sessionUpdate: "usage_update", ...usage }));
  assertEquals(usages(agent.client, sessionId), expected);
  const live = mergeChunks(agent.client.updatesOf(sessionId));

  const second = await reload(agent, sessionId);
  const replayed = second.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] !== "user_message_chunk");
  assertEquals(mergeChunks(replayed), live);
  await second.prompt(sessionId, "And now?");
  assertEquals(usages(second, sessionId).at(-1), {
    sessionUpdate: "usage_update",
    used: 300,
    size: 1000,
    cost: { amount: 0.00144, currency: "USD" },
  });
});

Deno.test("a total that leaves a step out is not shown, and a window that is not known neither", async () => {
  await using model = ModelServer.start([
    answer(text("One.")),
    answer(text("Two.")),
    answer(text("Three.")),
    answer(text("Four.")),
  ]);
  await using agent = await startAgent({
    model,
    env: { DSH_MODELS: `${PRICED},deepseek/free?window=500,deepseek/unknown` },
  });
  const sessionId = await agent.newSession();
  const choose = (value: string) =>
    agent.client.call("session/set_config_option", { sessionId, configId: "model", value });
  await agent.client.prompt(sessionId, "one");
  await choose("deepseek/unknown");
  await agent.client.prompt(sessionId, "two");
  await choose("deepseek/free");
  await agent.client.prompt(sessionId, "three");
  await choose("deepseek/deepseek-v4-flash");
  await agent.client.prompt(sessionId, "four");
  assertEquals(usages(agent.client, sessionId).map(({ size, cost }) => [size, cost]), [
    [1000, { amount: 0.00007, currency: "USD" }],
    [500, undefined],
    [1000, undefined],
  ]);
});
