import { assert, assertEquals } from "@std/assert";
import { chunkText } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, reasoning, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

/** An escaped half of a pair, as strict parsers refuse it. */
const HALF = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

Deno.test("no frame holds half of a surrogate pair, and pairs that stream in halves arrive whole", async () => {
  await using model = ModelServer.start([
    answer(
      reasoning("thin\ud83d"),
      reasoning("\ude00k"),
      text("a\ud83d"),
      text("\ude00b lone \udc00 end\ud83d"),
      call("c1", "bash", { command: "true; echo '\ud83d x'", description: "\udfff" }),
    ),
    answer(text("done")),
  ]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const sessionId = await agent.newSession();
  assertEquals((await client.prompt(sessionId, "go \ud800 on")).type, "result");
  for (const long of ["😀".repeat(300), `x${"😀".repeat(300)}`]) {
    await client.request("session/prompt", {
      sessionId: long,
      prompt: [{ type: "text", text: "x" }],
    });
    await client.request("session/new", { cwd: long, mcpServers: [] });
  }
  const live = chunkText(client.updatesOf(sessionId));
  assertEquals(live, "a😀b lone \ufffd end\ufffddone");
  assertEquals(chunkText(client.updatesOf(sessionId), "agent_thought_chunk"), "thin😀k");
  await client.close();
  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  assertEquals(chunkText(second.updatesOf(sessionId)), live);
  for (const { line } of [...client.frames, ...second.frames]) assert(!HALF.test(line), line);
  for (const request of model.requests) assert(!HALF.test(JSON.stringify(request.body)));
});
