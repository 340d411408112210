/** What a tool is: a name, validated arguments, a body, and how it presents itself. */
import type { ZodType } from "zod";
import type { JsonObject } from "./json.ts";
import type { TodoEntry } from "./plan.ts";
import type { CallView, ResultView, ToolContent } from "./presentation.ts";
import type { SandboxPolicy } from "./sandbox_policy.ts";

/** What a tool call produced. A failure the model can act on is a result with `isError`, never an exception. */
export interface ToolResult {
  /** What the model reads. */
  readonly content: readonly ToolContent[];
  /** Whether the model should take it as a failure. */
  readonly isError: boolean;
  /** Facts for {@linkcode Tool.presentResult} that the model does not read. Logged with the result. */
  readonly meta?: JsonObject;
  /** The plan as it stands after the call, whole. The session logs it and clients show it. */
  readonly plan?: readonly TodoEntry[];
}

/** What the session lends a call while it runs. */
export interface ToolContext {
  /** The session the call belongs to. */
  readonly sessionId: string;
  /** Unique within the session. */
  readonly callId: string;
  /** The session's working directory, absolute. */
  readonly cwd: string;
  /** Aborts when the call is cancelled. The body then ends what it started and returns promptly. */
  readonly signal: AbortSignal;
  /** What this call may write and reach. */
  readonly policy: SandboxPolicy;
  /**
   * Shows terminal output while the call runs: only what is new. The terminal result's `output`
   * must begin with everything passed here.
   */
  output(data: string): void;
}

/** What {@linkcode Tool.authorize} learns about a call. */
export type AuthorizeContext = Pick<ToolContext, "sessionId" | "callId" | "cwd" | "policy">;

/** A stated set of future calls that one "always" covers. */
export interface ApprovalScope {
  /** A stable identity, for example `bash:git status`. Two requests with one key are one scope. */
  readonly key: string;
  /** Words that end the sentence "Always allow …". */
  readonly label: string;
}

/** Whether a call may run: decided before it is dispatched. */
export type Authorization =
  /** Runs, under another policy than the session's where one is given. */
  | { readonly type: "allow"; readonly policy?: SandboxPolicy }
  /** Runs under `policy` once the user agrees to `reason`. */
  | {
    readonly type: "ask";
    readonly reason: string;
    readonly scope?: ApprovalScope;
    readonly policy?: SandboxPolicy;
  }
  /** Does not run. `message` tells the model why, and what would be accepted. */
  | { readonly type: "deny"; readonly message: string };

/**
 * A tool the model can call.
 *
 * `presentCall` and `presentResult` are pure functions of their arguments: they run again when a
 * session is replayed, in another process. A presenter that throws gets the generic view.
 *
 * @typeParam Args The arguments after validation.
 */
export interface Tool<Args = unknown> {
  /** Matches `^[a-zA-Z0-9_-]{1,64}$`, the rule model providers share. */
  readonly name: string;
  /** Tells the model when and how to use it. */
  readonly description: string;
  /** Validates the arguments; its JSON Schema is what the model sees. */
  readonly parameters: ZodType<Args>;
  /** What the model sees instead, where the arguments are checked elsewhere. JSON Schema. */
  readonly inputSchema?: JsonObject;
  /** `parallel` calls of one answer run at the same time; an `exclusive` one runs alone. @default {"exclusive"} */
  readonly concurrency?: "parallel" | "exclusive";
  /** Decides whether the call may run. Absent: it may. */
  authorize?(args: Args, context: AuthorizeContext): Authorization | Promise<Authorization>;
  /** Does the work. An exception becomes an error result with its message. */
  execute(args: Args, context: ToolContext): Promise<ToolResult>;
  /** How the call looks. Pure. */
  presentCall?(args: Args): CallView;
  /** How the result looks. Pure. */
  presentResult?(args: Args, result: ToolResult): ResultView;
}

/** Makes a result that the model reads as plain text. */
export function textResult(text: string, meta?: JsonObject): ToolResult {
  return { content: [{ type: "text", text }], isError: false, ...(meta && { meta }) };
}

/** Makes an error result; its text starts with `Error: `. */
export function errorResult(message: string, meta?: JsonObject): ToolResult {
  return {
    content: [{ type: "text", text: `Error: ${message}` }],
    isError: true,
    ...(meta && { meta }),
  };
}
