import { assertEquals } from "@std/assert";
import { chunkText } from "../helpers/frames.ts";
import { startAgent } from "../helpers/start_agent.ts";

const EXTRAS = {
  mcpServers: [],
  additionalDirectories: ["/srv/shared"],
};

const NOTICE = "Additional directories that do not exist were left out: /srv/shared.\n\n";

Deno.test("what a session is sent and cannot use is named once, also after a load", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession(EXTRAS);
  await agent.client.prompt(sessionId, "!true");
  await agent.client.prompt(sessionId, "!true");
  assertEquals(chunkText(agent.client.updatesOf(sessionId)), NOTICE);
  await agent.client.close();

  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, ...EXTRAS });
  await second.prompt(sessionId, "!true");
  assertEquals(chunkText(second.updatesOf(sessionId)), NOTICE);
});
