/**
 * A coding agent for editors that speak the Agent Client Protocol (ACP), and what another program
 * needs to serve one of its own: the bridge, what it serves, and what a tool is.
 *
 * Started as a program (`deno run -A jsr:@dsh/acp`) it serves ACP on stdin and stdout. Sessions,
 * the mapper, the file tools and the bash tool have entry points of their own: `@dsh/acp/session`,
 * `@dsh/acp/mapper`, `@dsh/acp/tools` and `@dsh/acp/bash`. They are not loaded here, so that the
 * program answers its editor sooner.
 *
 * @example A tool
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { z } from "zod";
 * import { textResult, ToolRegistry } from "@dsh/acp";
 *
 * await using tools = new ToolRegistry();
 * tools.register({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => Promise.resolve(textResult(String(a + b))),
 *   presentCall: ({ a, b }) => ({ type: "generic", title: `${a} + ${b}` }),
 * });
 * assertEquals(tools.presentCall("add", '{"a":1,"b":2}').title, "1 + 2");
 * ```
 *
 * @module
 */
import { guardStdout } from "./acp/_console_guard.ts";

export { connectBridge, stdioStream } from "./acp/mod.ts";
export type {
  BridgeConnection,
  BridgeOptions,
  BridgeServices,
  DirectoryLookup,
} from "./acp/mod.ts";
export type { Plugin, PluginKit, PluginModule } from "./acp/plugin.ts";
export type {
  AgentEvent,
  AgentFactory,
  AgentFactoryOptions,
  AgentHandle,
  AgentListener,
  ApprovalAnswer,
  ApprovalAnswerer,
  ApprovalRequest,
  EventBody,
  Model,
  ModelCatalogue,
  PermissionPreset,
  SessionEvent,
  SessionHeader,
  SessionStore,
  SessionStoreOptions,
  TurnEnd,
} from "./session/mod.ts";
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
} from "./tools/presentation.ts";
export type { SandboxMode, SandboxPolicy } from "./tools/sandbox_policy.ts";
export { errorResult, textResult } from "./tools/tool.ts";
export type {
  ApprovalScope,
  Authorization,
  AuthorizeContext,
  Tool,
  ToolContext,
  ToolResult,
} from "./tools/tool.ts";
export { ToolRegistry } from "./tools/tool_registry.ts";
export type { Preparation, PreparedCall, ToolDefinition } from "./tools/tool_registry.ts";

if (import.meta.main) {
  // Before anything else has a turn that could print.
  const stdout = guardStdout();
  const { serve } = await import("./acp/serve.ts");
  await serve(stdout);
}
