import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, failure, reasoning, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

/** Each message once, in order: its id and what it says. */
function messages(client: AcpClient, sessionId: string, isUser = false): [string, string][] {
  const found = new Map<string, string>();
  for (const update of client.updatesOf(sessionId)) {
    const kind = String(update["sessionUpdate"]);
    if (!kind.endsWith("_chunk") || (kind === "user_message_chunk") !== isUser) continue;
    const id = update["messageId"];
    assert(typeof id === "string", `no message id: ${JSON.stringify(update)}`);
    const { text } = update["content"] as JsonObject;
    found.set(`${kind} ${id}`, (found.get(`${kind} ${id}`) ?? "") + text);
  }
  const ids = [...found.keys()].map((key) => key.split(" ")[1]);
  assertEquals(new Set(ids).size, ids.length, "an id is used by one kind of message");
  return [...found];
}

Deno.test("every message has an id of its own, the same in a replay and after a restart", async () => {
  await using model = ModelServer.start([
    answer(
      reasoning("Hm."),
      text("I look."),
      reasoning(" So."),
      text(" Now."),
      call("r", "read", { file_path: "a.txt" }),
    ),
    failure(503),
    answer(text("Whole.")),
    answer(text("Whole.")),
  ]);
  await using agent = await startAgent({ model, files: { "a.txt": "a" } });
  const { client } = agent;
  const sessionId = await agent.newSession();
  await client.prompt(sessionId, [{ type: "text", text: "Look " }, {
    type: "text",
    text: "there",
  }]);
  const live = messages(client, sessionId);
  const retry = live[2]?.[1] ?? "";
  assertEquals(live.map(([, said]) => said), [
    "Hm. So.",
    "I look. Now.",
    retry,
    "Whole.",
  ]);
  assert(retry.includes("Attempt 2"), retry);
  await client.close();

  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  assertEquals(messages(second, sessionId), live);
  assertEquals(messages(second, sessionId, true).map(([, said]) => said), ["Look there"]);
  await second.prompt(sessionId, "Again");
  const after = messages(second, sessionId);
  assertEquals(after.length, live.length + 1, "the answer of a later process is another message");
});
