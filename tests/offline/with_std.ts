/**
 * Runs `deno` with the given arguments on machines with and without jsr.io:
 *
 *     deno run -A tests/offline/with_std.ts test -A
 *
 * Where `JSR_URL` is unset and jsr.io does not answer, `jsr:` specifiers are served from the
 * stand-in registry beside this file, without a lock file, and one line on stderr says so.
 * Standard streams, signals and the exit code are the child's.
 */

/** How long jsr.io may take to answer, in milliseconds. */
const PROBE_TIMEOUT = 1500;
/** Tells children that jsr.io answered, so that they do not ask again. */
const VERDICT = "DSH_TEST_JSR";
const STAND_IN = new URL("./jsr/", import.meta.url).href;
/** Subcommands that take `--no-lock`. */
const LOCKING: readonly string[] = [
  "run",
  "serve",
  "eval",
  "test",
  "check",
  "cache",
  "info",
  "doc",
  "bench",
  "compile",
  "bundle",
  "publish",
];

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  const env: Record<string, string> = {};
  const url = Deno.env.get("JSR_URL");
  let offline = url === STAND_IN;
  if (url === undefined && Deno.env.get(VERDICT) !== "online") {
    offline = !await answers("https://jsr.io/@std/assert/meta.json");
    if (offline) {
      env["JSR_URL"] = STAND_IN;
      write("jsr.io does not answer: using the stand-ins in tests/offline/jsr\n");
    } else env[VERDICT] = "online";
  }
  return await run(offline ? withoutLock(args) : args, env);
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    // No network, no name, or too slow: all of them mean that it does not answer.
    return false;
  }
}

function withoutLock(args: readonly string[]): readonly string[] {
  const [command, ...rest] = args;
  if (command === undefined || !LOCKING.includes(command)) return args;
  const operand = rest.findIndex((arg) => !arg.startsWith("-"));
  const flags = operand < 0 ? rest : rest.slice(0, operand);
  return flags.includes("--no-lock") ? args : [command, "--no-lock", ...rest];
}

async function run(args: readonly string[], env: Record<string, string>): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) {
    Deno.addSignalListener(signal, () => {
      try {
        child.kill(signal);
      } catch (error) {
        // It ended just before the signal arrived.
        if (!(error instanceof TypeError)) throw error;
      }
    });
  }
  return (await child.status).code;
}

function write(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}
