import { assert, assertEquals } from "@std/assert";
import { mergeChunks } from "../helpers/frames.ts";
import { plainCommand } from "../helpers/plain_command.ts";
import { startAgent } from "../helpers/start_agent.ts";

Deno.test("without the unstable flag the log goes to the same file through npm:@deno/kv", async () => {
  await using agent = await startAgent();
  const command = await plainCommand(agent.home);
  const probe = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--config", command.at(-2)!, "console.log(typeof Deno.openKv)"],
  }).output();
  assertEquals(new TextDecoder().decode(probe.stdout).trim(), "undefined", "the test is void");

  const plain = await agent.spawn({ command });
  const sessionId = await plain.newSession(agent.workspace);
  const answered = await plain.prompt(sessionId, "!seq 30000");
  assertEquals(answered.type, "result", JSON.stringify(answered));
  const live = mergeChunks(plain.updatesOf(sessionId));
  await plain.close();

  await agent.client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const replayed = agent.client.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] !== "user_message_chunk");
  assertEquals(mergeChunks(replayed), live);
  assert(JSON.stringify(live).includes("29999\\n30000\\n"));
  assertEquals((await agent.client.prompt(sessionId, "!true")).type, "result");
});
