import { clearAway } from "./clear_away.ts";
import { type CommandResult, notStarted } from "./command_result.ts";
import { OutputCollector, type OutputOptions } from "./output_collector.ts";
import { OutputPump, type OutputSink } from "./output_pump.ts";
import type { Containment } from "./sandbox/containment.ts";
import { type Shell, type ShellEnd, startShell } from "./start_shell.ts";
import { type StopReason, StopWatch } from "./stop_watch.ts";
import { MARKER_VARIABLE, type Sweeper } from "./sweeper.ts";
import { terminate } from "./terminate.ts";

/** Options for {@linkcode runCommand}. */
export interface RunOptions extends OutputOptions {
  /** Where the command runs: absolute, existing. */
  readonly cwd: string;
  /** The complete environment, without secrets: see {@linkcode shellEnvironment}. */
  readonly env: Readonly<Record<string, string>>;
  /** How the command is held and fenced in. */
  readonly containment: Containment;
  /** Absolute folders whose programs do not start it: those that earlier commands could write to. */
  readonly avoid?: readonly string[];
  /** Milliseconds after which the command is stopped. @default never */
  readonly timeoutMs?: number;
  /** Takes the output instead of an {@linkcode OutputCollector} made from these options. */
  readonly sink?: OutputSink;
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
    ...(options.avoid && { avoid: options.avoid }),
  });
  if (started.type === "failed") return notStarted(started.message, false);
  const { shell } = started;
  const sink = options.sink ?? new OutputCollector(options);
  const pump = new OutputPump(shell, sink);

  const { end, reason } = await awaitEnd(shell, options);
  const stopped = reason !== undefined;
  const endedLeftovers = await clearAway(shell, pump, {
    marker,
    stopped,
    ...(signal && { signal }),
    ...(sweeper && { sweeper }),
  });
  const output = await sink.finish();
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
