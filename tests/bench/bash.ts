/**
 * Commands: what running one costs over starting the same program bare, and how fast and in how
 * much memory a large output is read. Prints ratios of one interleaved run and asserts nothing.
 */
import {
  chooseContainment,
  PROCESS_GROUP,
  runCommand,
  SandboxProbe,
  Sweeper,
} from "../../bash/mod.ts";
import type { Containment } from "../../bash/mod.ts";

const WARM_UPS = 5;
const ROUNDS = 61;
const LARGE = "head -c 500000000 /dev/zero | tr '\\0' x";
const ENV = { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin" };

if (import.meta.main) await main();

async function main(): Promise<void> {
  const cwd = await Deno.makeTempDir();
  try {
    await spawnOverhead("without sandbox, over bash -c", PROCESS_GROUP, cwd);
    await spawnOverhead("without sandbox, over setsid bash -c", PROCESS_GROUP, cwd, ["setsid"]);
    const sandbox = await bubblewrap(cwd);
    if (sandbox) await spawnOverhead("with bubblewrap", sandbox, cwd);
    else print("with bubblewrap: not available here");
    await largeOutput(cwd);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

async function bubblewrap(cwd: string): Promise<Containment | undefined> {
  const runner = await new SandboxProbe({ os: Deno.build.os }).runner();
  const choice = chooseContainment({
    runner,
    cwd,
    policy: {
      mode: "workspace-write",
      writableRoots: [cwd],
      protectedPaths: [],
      network: "on",
      enforcement: "sandbox",
    },
  });
  return choice.type === "contained" && choice.containment.type === "bubblewrap"
    ? choice.containment
    : undefined;
}

async function spawnOverhead(
  name: string,
  containment: Containment,
  cwd: string,
  before: readonly string[] = [],
): Promise<void> {
  // As in a session: what left the process group is looked for between calls.
  await using sweeper = new Sweeper();
  const times = { bare: [] as number[], tool: [] as number[] };
  for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
    const bare = await timed(() => bareCommand(containment, cwd, before));
    const tool = await timed(() => runCommand(":", { cwd, env: ENV, containment, sweeper }));
    if (round >= WARM_UPS) {
      times.bare.push(bare);
      times.tool.push(tool);
    }
  }
  const ratio = median(times.tool) / median(times.bare);
  print(`spawn ${name}, n=${ROUNDS} interleaved`);
  print(`  bare ${show(times.bare)}`);
  print(`  tool ${show(times.tool)}`);
  print(`  ratio of medians ${ratio.toFixed(2)} (goal: at most 1.20)`);
}

/** The same shell in the same sandbox, with nothing of ours around it. */
async function bareCommand(
  containment: Containment,
  cwd: string,
  before: readonly string[],
): Promise<void> {
  const shell = [...before, "bash", "-c", ":"];
  const [program = "", ...args] = containment.type === "process-group"
    ? shell
    : [containment.program, ...containment.args, ...shell];
  await new Deno.Command(program, { args, cwd, env: ENV, clearEnv: true, stdin: "null" }).output();
}

async function largeOutput(cwd: string): Promise<void> {
  const times = { bare: [] as number[], tool: [] as number[] };
  let growth = 0;
  for (let round = 0; round < 3; round++) {
    times.bare.push(await timed(() => readBare(cwd)));
    const before = Deno.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => peak = Math.max(peak, Deno.memoryUsage().rss), 5);
    times.tool.push(
      await timed(() => runCommand(LARGE, { cwd, env: ENV, containment: PROCESS_GROUP })),
    );
    clearInterval(timer);
    growth = Math.max(growth, peak - before);
  }
  const ratio = median(times.bare) / median(times.tool);
  print("500 MB of output, n=3 interleaved");
  print(`  bare ${show(times.bare)}`);
  print(`  tool ${show(times.tool)}`);
  print(`  throughput over bare ${ratio.toFixed(2)} (goal: at least 0.50)`);
  print(`  resident memory grew by ${(growth / 2 ** 20).toFixed(0)} MiB (goal: less than 64)`);
}

async function readBare(cwd: string): Promise<void> {
  const child = new Deno.Command("bash", {
    args: ["-c", LARGE],
    cwd,
    env: ENV,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
  }).spawn();
  for await (const chunk of child.stdout) void chunk.length;
  await child.status;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? NaN;
}

function show(times: readonly number[]): string {
  const of = (time: number) => `${time.toFixed(2)} ms`;
  return `median ${of(median(times))} (${of(Math.min(...times))} to ${of(Math.max(...times))})`;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
