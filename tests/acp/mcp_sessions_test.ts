/** Sessions of one connection, each with an MCP server of its own. */
import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { chunkText } from "../helpers/frames.ts";
import { fixtureServer } from "../helpers/mcp_fixture.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { toolResults } from "../helpers/permission_desk.ts";
import { processesLeft, processesWith } from "../helpers/processes.ts";
import { startAgent } from "../helpers/start_agent.ts";

const COUNT = 20;

/** Calls the server for its environment, and says which session's word was in it. */
function respond({ body }: { readonly body: JsonObject }) {
  const result = toolResults(body)["e"];
  if (result === undefined) return answer(call("e", "mcp__same__env", {}));
  return answer(text(`got ${JSON.parse(result)["WORD"]}.`));
}

Deno.test({
  name: "20 sessions whose servers share a name prompt at once: no cross-talk, and nothing is left",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using model = ModelServer.start([], { respond });
    await using agent = await startAgent({ model });
    const { client } = agent;
    const mark = crypto.randomUUID();
    const sessions = await Promise.all(Array.from({ length: COUNT }, (_, index) => {
      const env = [{ name: "WORD", value: `word${index}` }];
      return agent.newSession({
        mcpServers: [{ ...fixtureServer("same", "plain", mark), env }],
      });
    }));
    await Promise.all(sessions.map((sessionId) => client.prompt(sessionId, "go")));
    assertEquals(
      sessions.map((sessionId) => chunkText(client.updatesOf(sessionId))),
      sessions.map((_, index) => `got word${index}.`),
    );
    assertEquals((await processesWith(mark)).length, COUNT);
    for (const sessionId of sessions.slice(0, 5)) await client.call("session/close", { sessionId });
    assertEquals((await processesWith(mark)).length, COUNT - 5);
    await client.close();
    assertEquals(await processesLeft(mark), []);
  },
});
