import { assert, assertEquals, assertLess } from "@std/assert";
import { openSessionStore } from "../../session/store.ts";
import { processesWith } from "../helpers/processes.ts";
import type { AgentWorld } from "../helpers/start_agent.ts";
import { startAgent } from "../helpers/start_agent.ts";

async function logged(agent: AgentWorld, sessionId: string): Promise<string[]> {
  await using store = await openSessionStore({ path: agent.kv, now: Date.now });
  const log = await store.open(sessionId);
  assert(log);
  const types: string[] = [];
  for await (const event of log.read()) types.push(event.type);
  return types;
}

const ENDINGS: readonly (readonly [string, (agent: AgentWorld) => unknown, number])[] = [
  ["stdin EOF", (agent) => agent.client.closeStdin(), 0],
  ["SIGTERM", (agent) => agent.client.kill("SIGTERM"), 143],
  ["SIGHUP", (agent) => agent.client.kill("SIGHUP"), 129],
];

for (const [name, end, code] of ENDINGS) {
  for (const [kind, tail] of [["plain", ""], ["stubborn", "trap '' TERM; "]] as const) {
    Deno.test({
      name: `${name} in mid-command ends the program and a ${kind} process tree within 2 s`,
      ignore: Deno.build.os !== "linux",
      fn: async () => {
        await using agent = await startAgent();
        const sessionId = await agent.newSession();
        const mark = `86${Math.floor(Math.random() * 1e9)}.5`;
        const command = `!${tail}sleep ${mark} & sleep ${mark} & echo started; wait; sleep ${mark}`;
        agent.client.prompt(sessionId, command).catch(() => {
          // The program ends before it can answer.
        });
        await agent.client.until(
          () => JSON.stringify(agent.client.updates).includes("started\\\\n") || undefined,
          "the command's first line",
        );
        const from = performance.now();
        await end(agent);
        const exit = await agent.client.exited;
        assertLess(exit.at - from, 2_000);
        assertEquals(exit.code, code);
        assertEquals(await processesWith(mark), []);
        const types = await logged(agent, sessionId);
        assertEquals(types.slice(0, 4), [
          "turn/start",
          "user/message",
          "session/title",
          "tool/call",
        ]);
        assertEquals(types.at(-1), "turn/end");
      },
    });
  }
}

Deno.test("a session that was killed loads again and goes on", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  agent.client.prompt(sessionId, "!echo started; sleep 60").catch(() => {
    // Killed before it can answer.
  });
  await agent.client.until(
    () => JSON.stringify(agent.client.updates).includes("started\\n") || undefined,
    "the command's first line",
  );
  agent.client.kill("SIGKILL");
  await agent.client.exited;
  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const card = second.updatesOf(sessionId).at(-1);
  assertEquals(card?.["status"], "failed");
  assert(JSON.stringify(card).includes("its outcome is unknown"));
  const next = await second.prompt(sessionId, "!echo on");
  assertEquals(next.type, "result");
});
