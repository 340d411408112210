/**
 * The closed union of session events, schema version 1. A session is a header and a sequence of
 * these; everything else is a fold of them.
 */
import type { JsonObject } from "../tools/json.ts";
import type { TodoEntry } from "../tools/plan.ts";
import type { ToolContent } from "../tools/presentation.ts";
import type { SandboxMode } from "../tools/sandbox_policy.ts";

/** The schema version written into every header and event. */
export const SCHEMA_VERSION = 1;

/** The first record of a session. It never changes. */
export interface SessionHeader {
  /** The schema of everything in the session. */
  readonly version: typeof SCHEMA_VERSION;
  /** A random UUID (RFC 9562 version 4). */
  readonly id: string;
  /** The working directory, absolute. */
  readonly cwd: string;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

/** One piece of a user's prompt. */
export type PromptContent =
  | { readonly type: "text"; readonly text: string }
  /** A pointer to something the model can read itself. The names are those of ACP's `ResourceLink`. */
  | {
    readonly type: "resource_link";
    readonly uri: string;
    readonly name: string;
    readonly title?: string;
    readonly description?: string;
    readonly mimeType?: string;
    /** In bytes. */
    readonly size?: number;
  }
  /** `data` is base64 (RFC 4648 section 4) of what `mimeType` says; `uri` is where it comes from. */
  | {
    readonly type: "image";
    readonly data: string;
    readonly mimeType: string;
    readonly uri?: string;
  }
  /** The content of a resource, sent along. */
  | {
    readonly type: "resource_text";
    readonly uri: string;
    readonly mimeType?: string;
    readonly text: string;
  }
  /** The same as bytes: `blob` is base64. */
  | {
    readonly type: "resource_blob";
    readonly uri: string;
    readonly mimeType?: string;
    readonly blob: string;
  };

/** One piece of a model's answer, in the order it was streamed. */
export type AssistantPart =
  | { readonly type: "text"; readonly text: string }
  /** `metadata` is what the provider wants back with it, for example a signature. */
  | { readonly type: "reasoning"; readonly text: string; readonly metadata?: JsonObject }
  /** `arguments` is the text the model wrote, valid JSON or not. */
  | {
    readonly type: "tool_call";
    readonly callId: string;
    readonly name: string;
    readonly arguments: string;
  };

/** What a model request consumed, in tokens. */
export interface TokenUsage {
  /** All of the request, what came from a cache included. */
  readonly inputTokens: number;
  /** All of the answer, reasoning included. */
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache. */
  readonly cachedInputTokens?: number;
  /** The part of `inputTokens` that was put into the provider's cache. */
  readonly cacheWriteInputTokens?: number;
  /** The part of `outputTokens` that was reasoning. */
  readonly reasoningTokens?: number;
}

/** An amount of money. */
export interface Cost {
  /** In units of the currency, fractions included. */
  readonly amount: number;
  /** An ISO 4217 code. */
  readonly currency: string;
}

/** Why a turn failed, for programs. */
export type TurnErrorCode =
  | "no_model"
  | "auth"
  | "quota"
  | "rate_limit"
  | "context_window"
  | "invalid_request"
  | "server"
  | "timeout"
  | "transport"
  | "malformed_response"
  | "internal";

/** How a turn ended. */
export type TurnEnd =
  | { readonly type: "completed" }
  | { readonly type: "max_tokens" }
  | { readonly type: "max_steps" }
  | { readonly type: "content_filter" }
  /** The client cancelled it. */
  | { readonly type: "aborted" }
  /** The session was closed under it. */
  | { readonly type: "disposed" }
  /** It was refused before it began its work. */
  | { readonly type: "rejected" }
  /** The process died in it; recovery closed it. */
  | { readonly type: "interrupted" }
  /** `message` is fit for a person and free of secrets. */
  | { readonly type: "error"; readonly code: TurnErrorCode; readonly message: string };

/** How a tool call came to its result. */
export type ToolOutcome =
  /** The body ran to its end, well or badly. */
  | "finished"
  /** The body never ran: invalid, refused, or cancelled before. */
  | "not_started"
  /** The process died, or the call was abandoned, while the body ran. */
  | "unknown";

/** What the user decided about a call, or that nobody could. */
export type ApprovalDecision =
  | "allowed_once"
  | "allowed_always"
  | "rejected"
  | "cancelled"
  | "unavailable";

/** The data of each event type. Every event lies between a `turn/start` and its `turn/end`. */
export interface EventData {
  /** `command`: it is not put to the model, as `!true` or `/help`. Turns count from 1. */
  "turn/start": { readonly turn: number; readonly trigger: "prompt" | "command" };
  /** The last event of a turn. */
  "turn/end": { readonly turn: number; readonly reason: TurnEnd };
  /** A step is one model request and the tool calls it asks for. Steps count from 1 in a turn. */
  "step/start": { readonly step: number };
  /**
   * `usage` is absent where the provider did not say, `contextWindow` (in tokens) where it is not
   * known. `cost` is that of the session so far, absent from the first step on that has no price.
   */
  "step/end": {
    readonly step: number;
    readonly usage?: TokenUsage;
    readonly contextWindow?: number;
    readonly cost?: Cost;
  };
  /**
   * The prompt, as the user sent it. `expanded` is what the model is told in its place, where the
   * prompt is a command, with what the prompt itself embeds after it; empty, it is told nothing.
   */
  "user/message": {
    readonly content: readonly PromptContent[];
    readonly expanded?: readonly PromptContent[];
  };
  /** `interrupted`: the answer was cut off by a cancel or an error. */
  "assistant/message": {
    readonly parts: readonly AssistantPart[];
    readonly model: string;
    readonly interrupted?: boolean;
  };
  /** Logged before the body runs. `awaitsApproval`: it runs only once the user agreed. */
  "tool/call": {
    readonly callId: string;
    readonly name: string;
    readonly arguments: string;
    readonly awaitsApproval?: boolean;
  };
  /** Logged when the call has ended, in whatever way. */
  "tool/result": {
    readonly callId: string;
    readonly content: readonly ToolContent[];
    readonly isError: boolean;
    readonly outcome: ToolOutcome;
    readonly meta?: JsonObject;
  };
  /** The user is asked whether a call may run. */
  "approval/asked": {
    readonly callId: string;
    readonly reason: string;
    readonly scope?: { readonly key: string; readonly label: string };
  };
  /** `scope` is what an `allowed_always` covers from now on. */
  "approval/decided": {
    readonly callId: string;
    readonly decision: ApprovalDecision;
    readonly scope?: { readonly key: string; readonly label: string };
  };
  /** The user chose a preset; the two events that follow say what it changed. */
  "permission/preset": { readonly preset: string };
  /** How far commands and file tools reach from now on. */
  "sandbox/mode": { readonly mode: SandboxMode };
  /** Whether what needs an approval is asked or refused from now on. */
  "approval/policy": { readonly policy: "ask" | "never" };
  /** Which model is asked from now on, and how long it thinks. */
  "model/selected": {
    readonly provider: string;
    readonly model: string;
    readonly reasoningEffort?: string;
  };
  /** What the session is called in lists. */
  "session/title": { readonly title: string };
  /** Something the person should know that is not the model's answer. */
  "session/notice": { readonly text: string };
  /** The plan, whole. */
  "todo/write": { readonly entries: readonly TodoEntry[] };
  /** A summary is about to take the conversation's place: by choice, before it is too long, or after. */
  "compact/start": { readonly trigger: "user" | "limit" | "overflow" };
  /** Unless `completed`, the conversation is as it was. */
  "compact/end": {
    readonly outcome:
      | { readonly type: "completed"; readonly summary: string; readonly model: string }
      | { readonly type: "failed"; readonly message: string }
      | { readonly type: "cancelled" };
  };
  /** A model request failed and is repeated. `partial` is what had been shown of its answer. */
  "llm/retry": {
    /** The request that comes next, counted from 2. */
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly delayMs: number;
    readonly code: TurnErrorCode;
    readonly message: string;
    readonly partial: readonly AssistantPart[];
  };
}

/** The name of an event type. */
export type EventType = keyof EventData;

/** An event before it is logged. */
export type EventBody = {
  [Type in EventType]: { readonly type: Type; readonly data: EventData[Type] };
}[EventType];

/** What the log adds to an event. */
export interface EventEnvelope {
  /** The schema of this event. */
  readonly v: typeof SCHEMA_VERSION;
  /** The position in the session, contiguous from 0. */
  readonly seq: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
}

/** A logged event, deep-frozen. */
export type SessionEvent = EventEnvelope & EventBody;

/** A logged event of one type. */
export type EventOf<Type extends EventType> = Extract<SessionEvent, { readonly type: Type }>;
