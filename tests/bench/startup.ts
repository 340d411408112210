/**
 * Spawn to the answer of `initialize`: the server against an SDK agent that does nothing else. The
 * two alternate in one run, so that both meet the same machine. Prints medians and their ratio and
 * asserts nothing.
 */
import { AcpClient } from "../helpers/acp_client.ts";
import { programCommand } from "../helpers/program.ts";
import { startAgent } from "../helpers/start_agent.ts";

const WARM_UPS = 3;
const ROUNDS = 21;

if (import.meta.main) await main();

async function main(): Promise<void> {
  await using world = await startAgent({
    client: { command: programCommand("tests/fixtures/bare_agent.ts") },
  });
  const subjects = {
    bare: programCommand("tests/fixtures/bare_agent.ts"),
    server: programCommand(),
  };
  const times = { bare: [] as number[], server: [] as number[] };
  for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
    for (const name of ["bare", "server"] as const) {
      const time = await measure(subjects[name], world.env, world.workspace);
      if (round >= WARM_UPS) times[name].push(time);
    }
  }
  const [bare, server] = [median(times.bare), median(times.server)];
  print(`startup, spawn to initialize answer, n=${ROUNDS} interleaved`);
  print(`  bare SDK agent  ${show(times.bare)}`);
  print(`  server          ${show(times.server)}`);
  print(`  ratio of medians ${(server / bare).toFixed(2)} (goal: at most 1.30)`);
}

async function measure(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<number> {
  await using client = AcpClient.spawn({ command, env, cwd });
  const answer = await client.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: {},
  });
  return answer.at - client.startedAt;
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1] ?? NaN;
}

function show(times: readonly number[]): string {
  const milliseconds = (time: number) => `${time.toFixed(1)} ms`;
  return `median ${milliseconds(median(times))} (${milliseconds(Math.min(...times))} to ${
    milliseconds(Math.max(...times))
  })`;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
