/**
 * What importing the mapper costs: a program that imports it against an empty one, alternating in
 * one run. Prints medians and their difference and asserts nothing.
 */
const WARM_UPS = 3;
const ROUNDS = 31;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;
const MAPPER = new URL("../../acp/mapper/mod.ts", import.meta.url).href;

if (import.meta.main) await main();

async function main(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "dsh-acp-bench-" });
  try {
    const empty = `${folder}/empty.ts`;
    const mapper = `${folder}/mapper.ts`;
    await Deno.writeTextFile(empty, "export {};\n");
    await Deno.writeTextFile(mapper, `import ${JSON.stringify(MAPPER)};\n`);
    const times = { empty: [] as number[], mapper: [] as number[] };
    for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
      for (const [name, path] of [["empty", empty], ["mapper", mapper]] as const) {
        const time = await measure(path);
        if (round >= WARM_UPS) times[name].push(time);
      }
    }
    const difference = median(times.mapper) - median(times.empty);
    print(`importing the mapper, start to exit, n=${ROUNDS} interleaved`);
    print(`  empty program     ${show(times.empty)}`);
    print(`  with the mapper   ${show(times.mapper)}`);
    print(`  difference        ${difference.toFixed(1)} ms (goal: under 10 ms)`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measure(path: string): Promise<number> {
  const started = performance.now();
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-lock", "--config", CONFIG, path],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn().status;
  if (!success) throw new Error(`Cannot run ${path}`);
  return performance.now() - started;
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1] ?? NaN;
}

function show(times: readonly number[]): string {
  const low = Math.min(...times).toFixed(1);
  return `median ${median(times).toFixed(1)} ms (${low} to ${Math.max(...times).toFixed(1)} ms)`;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
