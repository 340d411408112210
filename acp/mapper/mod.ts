/**
 * The mapper: how tools present themselves, and what a session logs, as ACP session updates.
 *
 * Pure: no I/O, no clock, no environment, and no SDK at run time. It works in any runtime, for any
 * agent that speaks ACP protocol version 1. Terminal cards follow the `_meta` convention that Zed
 * and the adapters for other agents share; see {@linkcode terminalSupport}.
 *
 * @example A command's card, live, for an agent of your own
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import {
 *   terminalOutputCard,
 *   terminalSupport,
 *   toolCallCard,
 *   toolResultCard,
 * } from "@dsh/acp/mapper";
 *
 * const context = { cwd: "/work", terminal: terminalSupport({ terminal_output: true }) };
 * const view = { type: "terminal", title: "make test" } as const;
 *
 * const call = toolCallCard("call-1", view, "in_progress", context);
 * const output = terminalOutputCard("call-1", "ok\n", context);
 * const result = toolResultCard({
 *   callId: "call-1",
 *   callView: view,
 *   resultView: { type: "terminal", output: "ok\n", exit: { exitCode: 0 } },
 *   content: [],
 *   isError: false,
 *   streamed: "ok\n",
 * }, context);
 *
 * assertEquals(call.content, [{ type: "terminal", terminalId: "call-1" }]);
 * assertEquals(output._meta, { terminal_output: { terminal_id: "call-1", data: "ok\n" } });
 * assertEquals(result._meta, { terminal_exit: { terminal_id: "call-1", exit_code: 0 } });
 * ```
 *
 * @module
 */
export { configOptions } from "./config_options.ts";
export { elicitationForm, questionAnswer, supportsForms } from "./elicitation.ts";
export type { ElicitationForm } from "./elicitation.ts";
export { mergeUpdates, streamedLength } from "./merge_updates.ts";
export { absolutePath, isAbsolutePath, relativePath, relativeTitle } from "./paths.ts";
export { readPrompt } from "./prompt_content.ts";
export type { PromptOptions, PromptReading } from "./prompt_content.ts";
export { SessionMapper } from "./session_mapper.ts";
export type { MapperContext, Presenter } from "./session_mapper.ts";
export { promptOutcome } from "./stop_reason.ts";
export type { PromptOutcome } from "./stop_reason.ts";
export {
  consoleBlock,
  terminalExit,
  terminalInfo,
  terminalOutput,
  terminalSupport,
} from "./terminal.ts";
export type { TerminalExitMeta, TerminalSupport } from "./terminal.ts";
export { terminalOutputCard, toolCallCard, toolResultCard } from "./tool_cards.ts";
export type { CardContext, FinishedCall } from "./tool_cards.ts";
