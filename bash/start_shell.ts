import { findProgram } from "../tools/find_program.ts";
import type { ProcessEnd } from "./status.ts";
import type { Containment } from "./sandbox/containment.ts";
import { signalName } from "./_signal_name.ts";

/** Options for {@linkcode startShell}. */
export interface StartOptions {
  /** Absolute. */
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly containment: Containment;
  /** Absolute folders whose programs are not started outside a sandbox. */
  readonly avoid?: readonly string[];
}

/** How the shell ended, or why it never began. */
export type ShellEnd =
  | ProcessEnd
  | { readonly type: "failed"; readonly message: string };

/** A running shell. */
export interface Shell {
  /** The process to signal: the leader of its own group. */
  readonly child: Deno.ChildProcess;
  readonly containment: Containment;
  /** stdout and stderr, in order. */
  readonly output: ReadableStream<Uint8Array>;
  /** What the shell said before its streams were joined: syntax errors of the first line. */
  readonly preface: Promise<Uint8Array>;
  /**
   * Resolves when the containment stands. A sandbox that is killed before leaves its processes
   * behind: bubblewrap has not yet tied their lives to its own.
   */
  readonly ready: Promise<void>;
  /** Settles when the shell itself ends, whatever it left running. */
  readonly ended: Promise<ShellEnd>;
}

/** A shell, or the reason why there is none. */
export type StartOutcome =
  | { readonly type: "started"; readonly shell: Shell }
  | { readonly type: "failed"; readonly message: string };

/**
 * Deno.Command gives a child two pipes; one command must print into one, in order. It stands on
 * the command's first line, so that line numbers in messages stay right.
 */
const JOIN = "exec 2>&1;";

/**
 * The first process of the PID namespace, between bubblewrap and the shell. It is there because
 *
 * - bubblewrap reports `kill -9 $$` and `exit 137` as one and the same, but a shell that reaps a
 *   signalled child says so on stderr, which is the warden's alone here (a bash that is called `sh`
 *   only outside its POSIX mode, and of SIGINT and SIGPIPE no shell: those are reported as codes
 *   130 and 141);
 * - only it can say that the sandbox stands (`+`) and that the command ended (`=N`), so that a
 *   sandbox that does not stand is never taken for a command that failed;
 * - it signs its report with a word that it reads from its stdin: the command can write to the same
 *   pipe, through `/proc/1/fd/2`, and must not be able to say how it ended itself;
 * - it outlives a TERM meant for the command, so that the command gets its grace;
 * - with it ends the namespace: if others are left after the command, it stays for as long as
 *   they may take, so that a process substitution can still print.
 */
const WARDEN = "${BASH_VERSION:+set +o posix};" +
  'read -r t;trap : TERM INT HUP QUIT;(echo +>&2;exec "$@" 2>&1 </dev/null);echo "$t=$?">&2;' +
  "set -- /proc/[0-9]*;[ $# -le 1 ]||exec sleep 5";

/** The warden's first line. */
const STANDS = "+\n";

/** More than this before or after the command is not kept. */
const MAX_REPORT = 65_536;

/**
 * Starts `bash -c command` in a process group of its own, with no stdin.
 *
 * Never throws: a shell that cannot start is an outcome.
 */
export function startShell(command: string, options: StartOptions): StartOutcome {
  try {
    return { type: "started", shell: spawnShell(command, options) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { type: "failed", message };
  }
}

function spawnShell(command: string, options: StartOptions): Shell {
  const { containment } = options;
  switch (containment.type) {
    case "bubblewrap": {
      const inner = ["sh", "-c", WARDEN, "sh", "bash", "-c", command];
      const args = [...containment.args, ...inner];
      // bubblewrap gives the command a session of its own.
      return warded(spawn(containment.program, args, options, "piped"), containment);
    }
    case "seatbelt": {
      const args = [...containment.args, trusted("bash", options), "-c", JOIN + command];
      return direct(spawn(containment.program, args, options, "null", true), containment);
    }
    case "process-group":
      return direct(
        spawnGroup([trusted("bash", options), "-c", JOIN + command], options),
        containment,
      );
    default: {
      const never: never = containment;
      return never;
    }
  }
}

/**
 * `setsid` becomes the shell, in a group of its own, under the same process id. Deno can do the
 * same (`detached`), but then it forks itself instead of using `posix_spawn`: measured, that takes
 * three times as long as a shell needs to start, and longer the more memory the program uses.
 */
function spawnGroup([program = "", ...args]: string[], options: StartOptions): Deno.ChildProcess {
  try {
    return spawn(trusted("setsid", options), [program, ...args], options);
  } catch (error) {
    const absent = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable;
    if (!absent) throw error;
    // macOS has no such program, and a list of allowed programs may not name it.
    return spawn(program, args, options, "null", true);
  }
}

/** The path of a program of the system's. A missing one keeps its name: the error then tells it. */
function trusted(name: string, { env, avoid }: StartOptions): string {
  return findProgram(name, env["PATH"] ?? "", avoid) ?? `/usr/bin/${name}`;
}

function spawn(
  program: string,
  args: string[],
  options: StartOptions,
  stdin: "null" | "piped" = "null",
  detached = false,
): Deno.ChildProcess {
  return new Deno.Command(program, {
    args,
    cwd: options.cwd,
    env: { ...options.env },
    clearEnv: true,
    stdin,
    stdout: "piped",
    stderr: "piped",
    detached,
  }).spawn();
}

function direct(child: Deno.ChildProcess, containment: Containment): Shell {
  return {
    child,
    containment,
    output: child.stdout,
    preface: readBounded(child.stderr).then(hideJoin),
    ready: Promise.resolve(),
    ended: child.status.then(endOfStatus, endOfUnknownSignal),
  };
}

/** Deno has no name for the real-time signals and fails with their number. */
function endOfUnknownSignal(error: unknown): ShellEnd {
  const message = error instanceof Error ? error.message : String(error);
  const number = /^Invalid signal: (\d+)$/.exec(message)?.[1];
  return number === undefined
    ? { type: "failed", message }
    : { type: "signaled", signal: signalName(Number(number)) };
}

/** Bash quotes the line with a syntax error: as the user wrote it. */
function hideJoin(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  const text = new TextDecoder().decode(bytes);
  return new TextEncoder().encode(text.replaceAll("`" + JOIN, "`"));
}

function warded(child: Deno.ChildProcess, containment: Containment): Shell {
  const ready = Promise.withResolvers<void>();
  const word = crypto.randomUUID();
  void tell(child, word);
  return {
    child,
    containment,
    output: child.stdout,
    preface: Promise.resolve(new Uint8Array()),
    ready: ready.promise,
    ended: readReport(child, word, ready.resolve),
  };
}

async function tell(child: Deno.ChildProcess, word: string): Promise<void> {
  try {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(`${word}\n`));
    await writer.close();
  } catch {
    // It ended before it could read: its report says why.
  }
}

/** Reads the warden's report: `+`, perhaps a word on a signal, then its own word and `=N`. */
async function readReport(
  child: Deno.ChildProcess,
  word: string,
  ready: () => void,
): Promise<ShellEnd> {
  const decoder = new TextDecoder();
  const reader = child.stderr.getReader();
  let report = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    report += decoder.decode(value, { stream: true });
    if (report.includes(STANDS)) ready();
    const end = endOfReport(report, word);
    // What the command itself writes here is nothing to us, however much it is.
    if (report.length > MAX_REPORT) report = STANDS + report.slice(-MAX_REPORT);
    if (!end) continue;
    // Nobody has more to say; a pipe that broke has nothing to cancel.
    void reader.cancel().catch(() => {});
    return end;
  }
  const status = await child.status;
  ready();
  if (status.signal !== null) return endOfStatus(status);
  const said = report.replace(STANDS, "").trim().slice(-1_000);
  // The kernel ended the warden, short of memory.
  if (said === "" && status.code > 128) {
    return { type: "signaled", signal: signalName(status.code - 128) };
  }
  return { type: "failed", message: said || `bwrap ended with code ${status.code}` };
}

function endOfReport(report: string, word: string): ProcessEnd | undefined {
  const start = report.lastIndexOf(`${word}=`);
  const match = start === -1 ? null : /^=(\d+)\n/.exec(report.slice(start + word.length));
  if (!match) return undefined;
  const code = Number(match[1]);
  return report.slice(0, start).replace(STANDS, "") !== "" && code > 128
    ? { type: "signaled", signal: signalName(code - 128) }
    : { type: "exited", code };
}

function endOfStatus(status: Deno.CommandStatus): ProcessEnd {
  return status.signal === null
    ? { type: "exited", code: status.code }
    : { type: "signaled", signal: status.signal };
}

async function readBounded(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  let kept = new Uint8Array();
  for await (const chunk of stream) {
    if (kept.length >= MAX_REPORT) continue;
    const longer = new Uint8Array(kept.length + chunk.length);
    longer.set(kept);
    longer.set(chunk, kept.length);
    kept = longer;
  }
  return kept;
}
