/**
 * The gate, one command: `deno task ok`. It stops at the first step that fails and ends with a
 * summary. `--static` leaves out the steps that run the program.
 */
import { docProblems } from "./helpers/doc_rules.ts";
import { lockProblems } from "./helpers/lock_rules.ts";

const ROOT = new URL("../", import.meta.url);
const COVERAGE = "coverage";

const LAUNCHER = ["run", "-A", "--no-lock", "tests/offline/with_std.ts"];

/** A step: a `deno` command line, or a check that returns what is wrong. */
type Step =
  & { readonly name: string }
  & (
    | { readonly args: readonly string[]; readonly runs?: boolean }
    | { readonly check: () => Promise<readonly string[]> }
  );

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  Deno.chdir(ROOT);
  const only = args.includes("--static");
  const done: string[] = [];
  for (const step of await steps()) {
    if (only && "runs" in step) continue;
    print(`\n--- ${step.name}\n`);
    const started = performance.now();
    const { ok, note } = await run(step);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    done.push(`  ${ok ? "ok  " : "FAIL"} ${step.name} (${seconds} s)${note ? ` ${note}` : ""}`);
    if (!ok) break;
  }
  const failed = done.at(-1)?.startsWith("  FAIL") ? 1 : 0;
  print(`\n${done.join("\n")}\n`);
  print(`gate: ${done.length - failed} steps passed, ${failed} failed\n`);
  return failed;
}

async function steps(): Promise<readonly Step[]> {
  const config = JSON.parse(await Deno.readTextFile("deno.json"));
  const entries = Object.values(config.exports).map(String);
  return [
    { name: "fmt", args: ["fmt", "--check"] },
    { name: "lint", args: ["lint"] },
    { name: "check", args: ["check"] },
    { name: "doc lint", check: () => lintDocs(entries) },
    { name: "lock", check: async () => lockProblems(await Deno.readTextFile("deno.lock"), ROOT) },
    // The source imports nothing from jsr.io, so this needs npm only.
    { name: "lock is complete", args: ["cache", "--frozen", ...entries] },
    {
      name: "tests",
      args: [
        "test",
        "-A",
        "--no-prompt",
        "--doc",
        "--trace-leaks",
        "--parallel",
        "--clean",
        `--coverage=${COVERAGE}`,
        "--coverage-raw-data-only",
      ],
      runs: true,
    },
    { name: "coverage", args: ["coverage", COVERAGE, "--exclude=/tests/"], runs: true },
    { name: "publish", args: ["publish", "--dry-run", "--allow-dirty"] },
  ];
}

async function lintDocs(entries: readonly string[]): Promise<readonly string[]> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...LAUNCHER, "doc", "--lint", ...entries],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  // deno-lint-ignore no-control-regex -- colours come in spite of NO_COLOR
  const report = (decoder.decode(stdout) + decoder.decode(stderr)).replace(/\x1b\[[0-9;]*m/g, "");
  const known = /Found \d+ documentation lint error|Checked \d+ file/.test(report);
  return known ? await docProblems(report, (path) => Deno.readTextFile(path)) : [report];
}

async function run(step: Step): Promise<{ readonly ok: boolean; readonly note?: string }> {
  if ("check" in step) {
    const problems = await step.check();
    for (const problem of problems) print(`${problem}\n`);
    return { ok: problems.length === 0 };
  }
  // `--frozen` needs the lock file, which the launcher would leave out.
  const launcher = step.args.includes("--frozen") ? [] : LAUNCHER;
  const child = new Deno.Command(Deno.execPath(), {
    args: [...launcher, ...step.args],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    // The programs that tests start report what they covered too.
    ...(step.args[0] === "test" &&
      { env: { DENO_COVERAGE_DIR: Deno.realPathSync(".") + `/${COVERAGE}` } }),
  }).spawn();
  let tail = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    Deno.stdout.writeSync(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-10_000);
  }
  const { success } = await child.status;
  const counts = /\| (\d+ passed.*? failed)/.exec(tail)?.[1];
  return { ok: success, ...(counts && step.name === "tests" && { note: counts }) };
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
