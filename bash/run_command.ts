import { type CommandResult, notStarted } from "./command_result.ts";
import { OutputCollector, type OutputOptions } from "./output_collector.ts";
import { OutputPump } from "./output_pump.ts";
import type { Containment } from "./sandbox/containment.ts";
import { type Shell, type ShellEnd, startShell } from "./start_shell.ts";
import { type StopReason, StopWatch } from "./stop_watch.ts";
import { endMarked, MARKER_VARIABLE, type Sweeper } from "./sweeper.ts";
import { signalTree, terminate } from "./terminate.ts";

/** Options for {@linkcode runCommand}. */
export interface RunOptions extends OutputOptions {
  /** Where the command runs: absolute, existing. */
  readonly cwd: string;
  /** The complete environment, without secrets: see {@linkcode shellEnvironment}. */
  readonly env: Readonly<Record<string, string>>;
  /** How the command is held and fenced in. */
  readonly containment: Containment;
  /** Milliseconds after which the command is stopped. @default never */
  readonly timeoutMs?: number;
  /** Stops the command. */
  readonly signal?: AbortSignal;
  /** Milliseconds between TERM and KILL. */
  readonly grace?: {
    /** After a timeout. @default {3000} */
    readonly timeoutMs?: number;
    /** After a cancel, whose prompt is answered within two seconds. @default {1000} */
    readonly cancelMs?: number;
  };
  /**
   * Looks after processes that left the group, between calls. Without one the call itself waits
   * for that.
   */
  readonly sweeper?: Sweeper;
}

/** What a child that outlives the shell gets to finish what it prints. In milliseconds. */
const SILENCE = 200;
const MAX_DRAIN = 1_500;
/** What leftovers get between TERM and KILL, and a pipe to close once they are gone. */
const LEFTOVER_GRACE = 100;

/**
 * Runs `bash -c command`: no stdin, stdout and stderr as one stream in order.
 *
 * The call returns at most two seconds after the shell ends, and nothing of the command's process
 * tree survives it: with bubblewrap because the PID namespace goes, otherwise as far as
 * {@linkcode Sweeper} says. Never rejects.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { PROCESS_GROUP, runCommand, shellEnvironment } from "@dsh/acp/bash";
 *
 * const result = await runCommand("echo out; echo err >&2; exit 3", {
 *   cwd: "/",
 *   env: shellEnvironment({}),
 *   containment: PROCESS_GROUP,
 * });
 * assertEquals(result.text, "out\nerr\n");
 * assertEquals(result.exit, { type: "exited", code: 3 });
 * ```
 */
export async function runCommand(command: string, options: RunOptions): Promise<CommandResult> {
  const { signal, containment, sweeper } = options;
  if (signal?.aborted) return notStarted("The call was cancelled before it started", true);
  const marker = crypto.randomUUID();
  const started = startShell(command, {
    cwd: options.cwd,
    env: containment.type === "bubblewrap"
      ? options.env
      : { ...options.env, [MARKER_VARIABLE]: marker },
    containment,
  });
  if (started.type === "failed") return notStarted(started.message, false);
  const { shell } = started;
  const collector = new OutputCollector(options);
  const pump = new OutputPump(shell, collector);

  const { end, reason } = await awaitEnd(shell, options);
  const endedLeftovers = await clearAway(shell, pump, marker, {
    hurried: reason !== undefined,
    ...(signal && { signal }),
    ...(sweeper && { sweeper }),
  });
  const output = await collector.finish();
  return {
    ...output,
    exit: end.type === "failed" ? { type: "spawn_failed", message: end.message } : end,
    ...(reason?.type === "timeout" && { timedOutAfterMs: reason.afterMs }),
    cancelled: reason?.type === "cancel",
    endedLeftovers,
  };
}

async function awaitEnd(
  shell: Shell,
  options: RunOptions,
): Promise<{ end: ShellEnd; reason?: StopReason }> {
  using watch = new StopWatch(options.timeoutMs, options.signal);
  const first = await Promise.race([shell.ended, watch.stopped]);
  switch (first.type) {
    case "timeout": {
      const graceMs = options.grace?.timeoutMs ?? 3_000;
      const hurry = options.signal;
      const end = await terminate(shell, { graceMs, ...(hurry && { hurry }) });
      return { end, reason: first };
    }
    case "cancel":
      return {
        end: await terminate(shell, { graceMs: options.grace?.cancelMs ?? 1_000 }),
        reason: first,
      };
    default:
      return { end: first };
  }
}

/** Gives leftovers a moment to print, ends them, and tells whether there were any. */
async function clearAway(
  shell: Shell,
  pump: OutputPump,
  marker: string,
  options: { hurried: boolean; signal?: AbortSignal; sweeper?: Sweeper },
): Promise<boolean> {
  const silent = await pump.settle({
    silenceMs: SILENCE,
    maxMs: options.hurried ? SILENCE : MAX_DRAIN,
    ...(options.signal && !options.hurried && { hurry: options.signal }),
  });
  if (shell.containment.type === "bubblewrap") {
    await endNamespace(shell);
    await endReading(pump);
    return !silent;
  }
  const grouped = await endGroup(shell, pump);
  if (!silent && !await pump.settle({ silenceMs: LEFTOVER_GRACE, maxMs: LEFTOVER_GRACE })) {
    await endMarked(marker);
    await endReading(pump);
  } else if (options.sweeper) {
    options.sweeper.schedule(marker);
  } else {
    await endMarked(marker);
  }
  return grouped || !silent;
}

async function endNamespace(shell: Shell): Promise<void> {
  await shell.release();
  const timer = setTimeout(() => signalTree(shell, "SIGKILL"), LEFTOVER_GRACE);
  await shell.child.status;
  clearTimeout(timer);
}

/** Ends what is left of the group. A group of zombies takes signals too, but has no say. */
async function endGroup(shell: Shell, pump: OutputPump): Promise<boolean> {
  if (!signalTree(shell, "SIGTERM")) return false;
  await pump.settle({ silenceMs: LEFTOVER_GRACE, maxMs: LEFTOVER_GRACE });
  signalTree(shell, "SIGKILL");
  return true;
}

async function endReading(pump: OutputPump): Promise<void> {
  if (!await pump.settle({ silenceMs: LEFTOVER_GRACE, maxMs: LEFTOVER_GRACE })) {
    await pump.cancel();
  }
}
