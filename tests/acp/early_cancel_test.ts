import { assertEquals, assertLess } from "@std/assert";
import { processesLeft } from "../helpers/processes.ts";
import { startAgent } from "../helpers/start_agent.ts";

Deno.test({
  name: "a cancel at any moment of a command's start ends it at once and leaves no process",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using agent = await startAgent();
    const { client } = agent;
    const sessionId = await agent.newSession();
    await client.prompt(sessionId, "!true");
    const mark = `77${Math.floor(Math.random() * 1e9)}`;
    for (let round = 0; round < 40; round++) {
      const from = client.frames.length - 1;
      const pending = client.prompt(sessionId, `!sleep ${mark}.${round}`);
      await client.nextUpdate((update) => update["sessionUpdate"] === "tool_call", from);
      // The moments differ: a third of a millisecond more each round.
      const moment = performance.now() + round / 3;
      while (performance.now() < moment) await Promise.resolve();
      const cancelled = performance.now();
      await client.notify("session/cancel", { sessionId });
      const answered = await pending;
      assertEquals(answered.type, "result");
      assertLess(answered.at - cancelled, 1_500, `round ${round}`);
    }
    assertEquals(await processesLeft(mark), []);
  },
});
