/** The status marker at the end of a command's text result, and its exact inverse. */

/** How the process itself ended. */
export type ProcessEnd =
  /** `code` is 0 to 255. */
  | { readonly type: "exited"; readonly code: number }
  /** `signal` is a name such as `SIGKILL`. */
  | { readonly type: "signaled"; readonly signal: string };

/** How a command ended: by itself, or because it was stopped. */
export type CommandStatus =
  | ProcessEnd
  /** Stopped after `afterMs` milliseconds; `end` is what the process made of it. */
  | { readonly type: "timed_out"; readonly afterMs: number; readonly end: ProcessEnd }
  /** Stopped because the call was cancelled. */
  | { readonly type: "cancelled"; readonly end: ProcessEnd };

/** What {@linkcode parseStatus} finds in a text. */
export interface ParsedStatus {
  /** What the command printed. */
  readonly body: string;
  /** How it ended. */
  readonly status: CommandStatus;
}

const NO_OUTPUT = "(no output)";
const CANCELLED = "[interrupted by the user]";

const MARKER =
  /(?:^|\n)\[(?:exit code: (0|[1-9]\d{0,2})|killed by signal: (SIG[A-Z0-9+-]+))\](?:\n(?:\[timed out after (0|[1-9]\d{0,14}) ms\]|(\[interrupted by the user\])))?$/;

/**
 * Puts what a command printed and how it ended into one text.
 *
 * The marker stands on the last line, or on the last two where the command was stopped: first how
 * the process ended, then why. One newline separates it from the body, none if the body is empty.
 * A clean exit has no marker, unless the text would then read as something else; clean exit
 * without output is `(no output)`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseStatus, renderStatus } from "@dsh/acp/bash";
 *
 * const text = renderStatus("no such file", { type: "exited", code: 2 });
 * assertEquals(text, "no such file\n[exit code: 2]");
 * assertEquals(parseStatus(text), {
 *   body: "no such file",
 *   status: { type: "exited", code: 2 },
 * });
 * ```
 */
export function renderStatus(body: string, status: CommandStatus): string {
  if (status.type === "exited" && status.code === 0) {
    const text = body === "" ? NO_OUTPUT : body;
    const read = parseStatus(text);
    if (read.body === body && isCleanExit(read.status)) return text;
  }
  const marker = renderMarker(status);
  return body === "" ? marker : `${body}\n${marker}`;
}

/** Takes a text of {@linkcode renderStatus} apart. Total: any other text is clean output. */
export function parseStatus(text: string): ParsedStatus {
  if (text === NO_OUTPUT) return { body: "", status: { type: "exited", code: 0 } };
  const match = MARKER.exec(text);
  const status = match ? statusOf(match) : undefined;
  if (!match || !status) return { body: text, status: { type: "exited", code: 0 } };
  return { body: text.slice(0, match.index), status };
}

function isCleanExit(status: CommandStatus): boolean {
  return status.type === "exited" && status.code === 0;
}

function renderMarker(status: CommandStatus): string {
  switch (status.type) {
    case "exited":
      return `[exit code: ${status.code}]`;
    case "signaled":
      return `[killed by signal: ${status.signal}]`;
    case "timed_out":
      return `${renderMarker(status.end)}\n[timed out after ${status.afterMs} ms]`;
    case "cancelled":
      return `${renderMarker(status.end)}\n${CANCELLED}`;
    default: {
      const never: never = status;
      return never;
    }
  }
}

function statusOf(match: RegExpExecArray): CommandStatus | undefined {
  const [, code, signal, afterMs, cancelled] = match;
  const end: ProcessEnd | undefined = signal !== undefined
    ? { type: "signaled", signal }
    : Number(code) <= 255
    ? { type: "exited", code: Number(code) }
    : undefined;
  if (!end) return undefined;
  if (afterMs !== undefined) return { type: "timed_out", afterMs: Number(afterMs), end };
  return cancelled === undefined ? end : { type: "cancelled", end };
}
