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
 * - it outlives a TERM meant for the command, so that the command gets its grace;
 * - with it ends the namespace: if others are left after the command, it stays for as long as
 *   they may take, so that a process substitution can still print.
 */
const WARDEN = "${BASH_VERSION:+set +o posix};" +
  'trap : TERM INT HUP QUIT;(echo +>&2;exec "$@" 2>&1);echo "=$?">&2;' +
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
      return warded(spawn(containment.program, args, options), containment);
    }
    case "seatbelt": {
      const args = [...containment.args, "bash", "-c", JOIN + command];
      return direct(spawn(containment.program, args, options, true), containment);
    }
    case "process-group":
      return direct(spawnGroup(["bash", "-c", JOIN + command], options), containment);
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
    return spawn("setsid", [program, ...args], options);
  } catch (error) {
    const absent = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable;
    if (!absent) throw error;
    // macOS has no such program, and a list of allowed programs may not name it.
    return spawn(program, args, options, true);
  }
}

function spawn(
  program: string,
  args: string[],
  options: StartOptions,
  detached = false,
): Deno.ChildProcess {
  return new Deno.Command(program, {
    args,
    cwd: options.cwd,
    env: { ...options.env },
    clearEnv: true,
    stdin: "null",
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
    ended: child.status.then(endOfStatus),
  };
}

/** Bash quotes the line with a syntax error: as the user wrote it. */
function hideJoin(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  const text = new TextDecoder().decode(bytes);
  return new TextEncoder().encode(text.replaceAll("`" + JOIN, "`"));
}

function warded(child: Deno.ChildProcess, containment: Containment): Shell {
  const ready = Promise.withResolvers<void>();
  return {
    child,
    containment,
    output: child.stdout,
    preface: Promise.resolve(new Uint8Array()),
    ready: ready.promise,
    ended: readReport(child, ready.resolve),
  };
}

/** Reads the warden's report: `+`, perhaps a word on a signal, then `=N`. */
async function readReport(child: Deno.ChildProcess, ready: () => void): Promise<ShellEnd> {
  const decoder = new TextDecoder();
  const reader = child.stderr.getReader();
  let report = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (report.length < MAX_REPORT) report += decoder.decode(value, { stream: true });
    if (report.includes(STANDS)) ready();
    const end = endOfReport(report);
    if (!end) continue;
    // Nobody has more to say; a pipe that broke has nothing to cancel.
    void reader.cancel().catch(() => {});
    return end;
  }
  const status = await child.status;
  ready();
  if (status.signal !== null) return endOfStatus(status);
  const said = report.replace(STANDS, "").trim();
  // The kernel ended the warden, short of memory.
  if (said === "" && status.code > 128) {
    return { type: "signaled", signal: signalName(status.code - 128) };
  }
  return { type: "failed", message: said || `bwrap ended with code ${status.code}` };
}

function endOfReport(report: string): ProcessEnd | undefined {
  const match = /^\+\n([^]*?)=(\d+)\n$/.exec(report);
  if (!match) return undefined;
  const code = Number(match[2]);
  return match[1] !== "" && code > 128
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
