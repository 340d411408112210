import type { CommandStatus, ProcessEnd } from "./status.ts";
import type { CollectedOutput } from "./output_collector.ts";

/** How a command ended, or why it never began. */
export type CommandExit =
  | ProcessEnd
  | { readonly type: "spawn_failed"; readonly message: string };

/** What became of a command. A failure is data, never an exception. */
export interface CommandResult extends CollectedOutput {
  /** How the command ended. */
  readonly exit: CommandExit;
  /** The timeout in milliseconds that ended the command. */
  readonly timedOutAfterMs?: number;
  /** Whether the command was stopped, or not started, because the call was cancelled. */
  readonly cancelled: boolean;
  /** Whether the shell left processes running that were then ended. */
  readonly endedLeftovers: boolean;
}

/** The status that the result's text reports; undefined for a command that never began. */
export function statusOfResult(result: CommandResult): CommandStatus | undefined {
  const { exit, timedOutAfterMs, cancelled } = result;
  if (exit.type === "spawn_failed") return undefined;
  if (cancelled) return { type: "cancelled", end: exit };
  if (timedOutAfterMs === undefined) return exit;
  return { type: "timed_out", afterMs: timedOutAfterMs, end: exit };
}

/** The result of a command that never began. */
export function notStarted(message: string, cancelled: boolean): CommandResult {
  return {
    exit: { type: "spawn_failed", message },
    cancelled,
    endedLeftovers: false,
    display: "",
    text: "",
    bytesSeen: 0,
    bytesKept: 0,
  };
}
