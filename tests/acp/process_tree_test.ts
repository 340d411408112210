import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { AcpClient } from "../helpers/acp_client.ts";
import { terminalOutput } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { pathWithoutBwrap } from "../helpers/path_without_bwrap.ts";
import { processesLeft } from "../helpers/processes.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

const linux = Deno.build.os === "linux";

const COMMANDS: readonly (readonly [string, (mark: string) => string])[] = [
  ["a background child", (mark) => `sleep ${mark} & echo ok`],
  ["setsid", (mark) => `setsid sleep ${mark} & echo ok`],
  ["setsid without the pipe", (mark) => `setsid sleep ${mark} >/dev/null 2>&1 & echo ok`],
  ["nohup", (mark) => `nohup sleep ${mark} >/dev/null 2>&1 & echo ok`],
  ["a double fork", (mark) => `(setsid bash -c 'sleep ${mark} & disown' &) ; echo ok`],
  ["a stubborn child", (mark) => `(trap '' TERM HUP; sleep ${mark}; sleep ${mark}) & echo ok`],
];

async function clientOf(agent: AgentWorld, sandbox: boolean): Promise<AcpClient> {
  if (sandbox) return agent.client;
  const PATH = await pathWithoutBwrap(`${agent.home}/bin`);
  return await agent.spawn({ env: { ...agent.env, PATH } });
}

for (const sandbox of [true, false]) {
  const where = sandbox ? "with bubblewrap" : "without bubblewrap";
  for (const [name, command] of COMMANDS) {
    Deno.test({
      name: `${name} does not hold its call or outlive it, ${where}`,
      ignore: !linux,
      fn: async () => {
        await using agent = await startAgent();
        const client = await clientOf(agent, sandbox);
        const sessionId = await client.newSession(agent.workspace);
        const mark = `64${Math.floor(Math.random() * 1e9)}`;
        const from = performance.now();
        const answered = await client.prompt(sessionId, `!${command(mark)}`);
        assertEquals(answered.type, "result");
        assertLess(answered.at - from, 2_500);
        assertEquals(terminalOutput(client.updatesOf(sessionId)), "ok\n");
        assertEquals(client.updatesOf(sessionId).at(-1)?.["status"], "completed");
        assertEquals(await processesLeft(mark), []);
      },
    });
  }

  Deno.test({
    name: `a command that ignores TERM is gone soon after its timeout, ${where}`,
    ignore: !linux,
    fn: async () => {
      const mark = `65${Math.floor(Math.random() * 1e9)}`;
      const command = `trap '' TERM; echo up; sleep ${mark}; sleep ${mark}`;
      await using model = ModelServer.start([
        answer(call("c1", "bash", { command, description: "Wait", timeoutMs: 300 })),
        answer(text("ok")),
      ]);
      await using agent = await startAgent({
        model,
        env: { DSH_PERMISSION_MODE: "danger-full-access" },
      });
      const client = await clientOf(agent, sandbox);
      const sessionId = await client.newSession(agent.workspace);
      const pending = client.prompt(sessionId, "go");
      const started = await client.nextUpdate((update) => update["sessionUpdate"] === "tool_call");
      const ended = await client.nextUpdate((update) => update["status"] === "failed");
      await pending;
      assertLess(ended.at - started.at, 300 + 3_500);
      assertEquals(await processesLeft(mark), []);
      const told = JSON.stringify(model.requests[1]?.body);
      assertStringIncludes(told, "[timed out after 300 ms]");
      assertStringIncludes(told, "[killed by signal: SIGKILL]");
    },
  });

  Deno.test({
    name: `a command that ignores TERM is gone soon after a cancel, ${where}`,
    ignore: !linux,
    fn: async () => {
      await using agent = await startAgent();
      const client = await clientOf(agent, sandbox);
      const sessionId = await client.newSession(agent.workspace);
      const mark = `66${Math.floor(Math.random() * 1e9)}`;
      const pending = client.prompt(
        sessionId,
        `!trap '' TERM; echo up; sleep ${mark}; sleep ${mark}`,
      );
      await client.nextUpdate((_, frame) => terminalOutput([frame.update]) === "up\n");
      const from = performance.now();
      await client.notify("session/cancel", { sessionId });
      const answered = await pending;
      assert(answered.type === "result");
      assertEquals(answered.result, { stopReason: "cancelled" });
      assertLess(answered.at - from, 2_000);
      assertEquals(await processesLeft(mark), []);
    },
  });
}
