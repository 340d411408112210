/**
 * Terminal cards: the `_meta` convention by which an agent shows a terminal that it runs itself.
 * Not part of the ACP schema; Zed and the adapters for other agents share it.
 */

/** Which convention the client declared in `clientCapabilities._meta`. */
export type TerminalSupport =
  /** Nothing: output is shown as text when the command has ended. */
  | "none"
  /** `terminal_output`: frames carry what is new, and the client appends. */
  | "output"
  /** `terminal_output_delta`: the same, under its own key. */
  | "delta";

/** Reads the convention from `clientCapabilities._meta`. Only a strict `true` counts. */
export function terminalSupport(
  meta: { readonly [key: string]: unknown } | null | undefined,
): TerminalSupport {
  if (meta?.["terminal_output"] === true) return "output";
  if (meta?.["terminal_output_delta"] === true) return "delta";
  return "none";
}

/** How a terminal's process ended, in the convention's words. */
export interface TerminalExitMeta {
  /** The terminal that `terminal_info` opened. */
  readonly terminal_id: string;
  /** 0 to 255. */
  readonly exit_code?: number;
  /** A name such as `SIGKILL`. */
  readonly signal?: string;
}

/** The `_meta` of a `tool_call` that opens a terminal. */
export function terminalInfo(terminalId: string, cwd: string): Record<string, unknown> {
  return { terminal_info: { terminal_id: terminalId, cwd } };
}

/** The `_meta` of a `tool_call_update` that adds output. */
export function terminalOutput(
  support: TerminalSupport,
  terminalId: string,
  data: string,
): Record<string, unknown> {
  const output = { terminal_id: terminalId, data };
  return support === "delta" ? { terminal_output_delta: output } : { terminal_output: output };
}

/** The `_meta` of the `tool_call_update` that ends a terminal. */
export function terminalExit(
  terminalId: string,
  exit: { readonly exitCode: number } | { readonly signal: string },
): Record<string, unknown> {
  const ended: TerminalExitMeta = "signal" in exit
    ? { terminal_id: terminalId, signal: exit.signal }
    : { terminal_id: terminalId, exit_code: exit.exitCode };
  return { terminal_exit: ended };
}

/** Output as a Markdown block. The fence is longer than any in the output, so it cannot break out. */
export function consoleBlock(output: string): string {
  const longest = (output.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}console\n${output.replace(/\n+$/, "")}\n${fence}`;
}
