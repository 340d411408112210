import { assert, assertEquals, assertRejects } from "@std/assert";
import { chunkText } from "./frames.ts";
import { programCommand } from "./program.ts";
import { startAgent } from "./start_agent.ts";

const COMMAND = programCommand("tests/fixtures/scripted_agent.ts");

Deno.test("startAgent() makes a world, restarts in it, and removes it", async () => {
  let home: string;
  {
    await using agent = await startAgent({
      client: { command: COMMAND },
      files: { "src/a.txt": "one\n" },
      env: { EXTRA: "1" },
    });
    home = agent.home;
    assertEquals(await Deno.readTextFile(agent.path("src/a.txt")), "one\n");
    assertEquals([agent.env["EXTRA"], agent.env["HOME"]], ["1", home]);
    const sessionId = await agent.newSession();
    await agent.client.prompt(sessionId, "say hi");
    assertEquals(chunkText(agent.client.updatesOf(sessionId)), "hi");
    await agent.client.close();
    const second = await agent.spawn();
    assert(await second.newSession(agent.workspace));
  }
  await assertRejects(() => Deno.stat(home), Deno.errors.NotFound);
});
