/**
 * Tools for agents: what a tool is, a registry that validates and runs calls, the vocabulary in
 * which tools present themselves, and tools for files.
 *
 * @example Run the file tools
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { fileTools, ToolRegistry } from "@dsh/acp/tools";
 *
 * await using tools = new ToolRegistry();
 * for (const tool of fileTools()) tools.register(tool);
 * const cwd = await Deno.makeTempDir();
 *
 * const prepared = tools.prepare("write", '{"file_path":"hello.txt","content":"hello\\n"}');
 * if (prepared.type === "invalid") throw new Error("the arguments are valid");
 * const result = await prepared.call.execute({
 *   sessionId: "session",
 *   callId: "call",
 *   cwd,
 *   signal: new AbortController().signal,
 *   policy: {
 *     mode: "workspace-write",
 *     writableRoots: [cwd],
 *     protectedPaths: [],
 *     network: "on",
 *     enforcement: "sandbox",
 *   },
 *   output: () => {},
 * });
 * assertEquals(result.isError, false);
 * assertEquals(await Deno.readTextFile(`${cwd}/hello.txt`), "hello\n");
 * await Deno.remove(cwd, { recursive: true });
 * ```
 *
 * @module
 */
export { askUserQuestionTool } from "./ask_user_question.ts";
export type { AskUserQuestionArgs, AskUserQuestionOptions } from "./ask_user_question.ts";
export { checkWrite } from "./check_write.ts";
export type { WriteCheck } from "./check_write.ts";
export { stripControl } from "./control_text.ts";
export { FileObservations, fileVersion } from "./file_observations.ts";
export type { Freshness } from "./file_observations.ts";
export { fileTools } from "./file_tools.ts";
export { findProgram } from "./find_program.ts";
export type { FileToolsOptions } from "./file_tools.ts";
export { wellFormedJson } from "./json.ts";
export type { Json, JsonObject } from "./json.ts";
export type {
  CallView,
  DiffCallView,
  DiffResultView,
  FileDiff,
  FileLocation,
  GenericCallView,
  GenericResultView,
  ResultView,
  TerminalCallView,
  TerminalExit,
  TerminalResultView,
  ToolContent,
  ToolKind,
} from "./presentation.ts";
export type { StartTimer } from "./_question_deadline.ts";
export { isWiderMode, SANDBOX_MODES } from "./sandbox_policy.ts";
export type { SandboxMode, SandboxPolicy } from "./sandbox_policy.ts";
export type { TodoEntry } from "./plan.ts";
export { todoWriteTool } from "./todo_write.ts";
export type { TodoWriteArgs } from "./todo_write.ts";
export { webFetchTool } from "./web_fetch.ts";
export type { WebFetchArgs, WebFetchOptions } from "./web_fetch.ts";
export { errorResult, textResult } from "./tool.ts";
export type {
  ApprovalScope,
  Authorization,
  AuthorizeContext,
  Tool,
  ToolContext,
  ToolResult,
} from "./tool.ts";
export { ToolRegistry } from "./tool_registry.ts";
export type { Preparation, PreparedCall, ToolDefinition } from "./tool_registry.ts";
export type {
  Question,
  QuestionAnswer,
  QuestionOption,
  QuestionRequest,
  UserInteraction,
} from "./user_interaction.ts";
export type { McpServer } from "./mcp/mcp_server.ts";
export type { ToolSource } from "./tool_registry.ts";
