/**
 * The seam between the turn loop and a model provider. The loop knows these types and no provider.
 */
import type { JsonObject } from "../../tools/json.ts";
import type { ToolContent } from "../../tools/presentation.ts";
import type { ToolDefinition } from "../../tools/tool_registry.ts";
import type { AssistantPart, TokenUsage, TurnErrorCode } from "../events.ts";

/** One message of the conversation, as providers are sent it. */
export type ModelMessage =
  /** The text says where its images stand, counted from 1. */
  | {
    readonly role: "user";
    readonly text: string;
    readonly images?: readonly Extract<ToolContent, { type: "image" }>[];
  }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | { readonly role: "tool"; readonly results: readonly ModelToolResult[] };

/** The result of one call. Each call of an assistant message has exactly one. */
export interface ModelToolResult {
  /** The call it answers. */
  readonly callId: string;
  /** The tool's name. */
  readonly name: string;
  /** What the tool returned. */
  readonly content: readonly ToolContent[];
  /** Whether the tool failed. */
  readonly isError: boolean;
}

/** One request. */
export interface ModelRequest {
  /** The standing instructions. */
  readonly system: string;
  /** The conversation, oldest first. */
  readonly messages: readonly ModelMessage[];
  /** What the model may call. */
  readonly tools: readonly ToolDefinition[];
  /** One of the model's {@linkcode ModelInfo.reasoningEfforts}. Absent: the provider's default. */
  readonly reasoningEffort?: string;
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

/** What a model streams. A stream ends with exactly one `finish` or `failure`. */
export type ModelStreamPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** Closes the current stretch of reasoning with what the provider wants back. */
  | { readonly type: "reasoning_metadata"; readonly metadata: JsonObject }
  /** A complete call; `arguments` is the text the model wrote. */
  | {
    readonly type: "tool_call";
    readonly callId: string;
    readonly name: string;
    readonly arguments: string;
  }
  | {
    readonly type: "finish";
    readonly reason: "stop" | "tool_calls" | "max_tokens" | "content_filter";
    readonly usage?: TokenUsage;
  }
  | { readonly type: "failure"; readonly failure: ModelFailure };

/** Why a request failed. */
export interface ModelFailure {
  /** What went wrong, for programs. */
  readonly code: TurnErrorCode;
  /** Fit for a person: no key, no stack trace, no raw body beyond the provider's own message. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** What the provider asked to wait (RFC 9110 `Retry-After`), in milliseconds. */
  readonly retryAfterMs?: number;
}

/** A model that can be asked. */
export interface Model {
  /** What is known of it. */
  readonly info: ModelInfo;
  /**
   * Asks the model. Must not throw: a failure, an abort included, ends the stream with
   * a `failure` part. Ends promptly once the signal aborts, whatever the provider does.
   */
  stream(request: ModelRequest): AsyncIterable<ModelStreamPart>;
}

/** What is known of a model without asking it. */
export interface ModelInfo {
  /** For example `deepseek`. */
  readonly provider: string;
  /** The provider's own id of the model. */
  readonly model: string;
  /** For a person. */
  readonly name: string;
  /** One sentence for a person who chooses. */
  readonly description?: string;
  /** The context window in tokens, where known. */
  readonly contextWindow?: number;
  /** Whether a prompt may hold images. @default {false} */
  readonly images?: boolean;
  /** What its tokens cost, where one price is known for all of them. */
  readonly price?: ModelPrice;
  /** The choices of reasoning effort, weakest first. Empty or absent: there is no choice. */
  readonly reasoningEfforts?: readonly string[];
}

/** Prices in US dollars for a million tokens. */
export interface ModelPrice {
  /** Of the request. */
  readonly input: number;
  /** Of the answer, reasoning included. */
  readonly output: number;
  /** Of what came from the provider's cache. @default {that of the request} */
  readonly cacheRead?: number;
  /** Of what was put into it. @default {that of the request} */
  readonly cacheWrite?: number;
}

/** A model by the name people use: `provider/model`. */
export interface ModelRef {
  /** For example `deepseek`. */
  readonly provider: string;
  /** The provider's own id of the model. */
  readonly model: string;
}

/** The models a connection offers. */
export interface ModelCatalogue {
  /** In the order they are offered. */
  readonly models: readonly ModelInfo[];
  /** What a new session starts with. Absent: no model can be asked. */
  readonly defaultModel?: ModelRef | undefined;
  /** What small things are asked of, such as a session's title. Absent: they are not asked. */
  readonly smallModel?: ModelRef | undefined;
  /** Finds a model, or says in words for a person why it cannot be asked. */
  resolve(ref: ModelRef | undefined): Promise<ModelResolution>;
}

/** A model, or why there is none. */
export type ModelResolution =
  | { readonly type: "ready"; readonly model: Model }
  | { readonly type: "unavailable"; readonly code: "no_model" | "auth"; readonly message: string };
