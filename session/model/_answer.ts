/** One streamed answer: the provider's parts become ours, and its end is judged. */
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { JsonObject } from "../../tools/mod.ts";
import type { TokenUsage } from "../events.ts";
import {
  cutOff,
  type Endpoint,
  failureOf,
  isMissingFinish,
  malformed,
  serverFailure,
} from "./_failure.ts";
import { packOwn } from "./_own_metadata.ts";
import type { ModelFailure, ModelStreamPart } from "./model.ts";

type FinishReason = Extract<ModelStreamPart, { type: "finish" }>["reason"];

/** What an {@linkcode Answer} is told of its request. */
export interface AnswerOptions {
  readonly endpoint: Endpoint;
  readonly now: () => number;
  /** The call ids of the conversation so far. */
  readonly usedCallIds: Iterable<string>;
  /** The media type of the response, where known. */
  readonly contentType: string | undefined;
}

/**
 * Calls are passed on only once the answer is known to be complete: the call of a broken answer
 * may itself be broken, and must not run.
 */
export class Answer {
  readonly #options: AnswerOptions;
  readonly #callIds: Set<string>;
  #calls: LanguageModelV4ToolCall[] = [];
  #hasText = false;
  #hasReasoning = false;
  #fieldIsReasoning = false;
  #metadata: JsonObject | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#callIds = new Set(options.usedCallIds);
  }

  /** Translates one part. The answer is over with a `finish` or a `failure`. */
  *take(part: LanguageModelV4StreamPart): Generator<ModelStreamPart> {
    switch (part.type) {
      case "text-delta":
        if (part.delta === "") return;
        this.#hasText ||= part.delta.trim() !== "";
        yield { type: "text", text: part.delta };
        return;
      case "reasoning-start":
        this.#metadata = merge(undefined, part.providerMetadata);
        return;
      case "reasoning-delta":
        this.#metadata = merge(this.#metadata, part.providerMetadata);
        if (part.delta === "") return;
        this.#hasReasoning = true;
        yield { type: "reasoning", text: part.delta };
        return;
      case "reasoning-end":
        yield* this.#endReasoning(merge(this.#metadata, part.providerMetadata));
        return;
      case "tool-call":
        this.#calls.push(part);
        return;
      case "raw":
        this.#fieldIsReasoning ||= streamsReasoningField(part.rawValue);
        return;
      case "error":
        yield failed(this.#reported(part.error));
        return;
      case "finish":
        yield* this.#finish(part.finishReason, tokenUsage(part.usage));
        return;
      case "stream-start":
      case "response-metadata":
      case "text-start":
      case "text-end":
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
      case "tool-approval-request":
      case "tool-result":
      case "custom":
      case "file":
      case "reasoning-file":
      case "source":
      case "ping":
        return;
      default:
        // A later version of the specification may add parts; none of those this project asks for.
        part satisfies never;
    }
  }

  /** The stream is over without having said how the answer ended. */
  end(): ModelStreamPart {
    return failed(this.#missingEnd());
  }

  #reported(error: unknown): ModelFailure {
    if (isMissingFinish(error)) return this.#missingEnd();
    return failureOf(error, this.#options.endpoint, this.#options.now);
  }

  *#endReasoning(metadata: JsonObject | undefined): Generator<ModelStreamPart> {
    this.#metadata = undefined;
    const own = this.#fieldIsReasoning ? packOwn({ reasoningField: "reasoning" }) : undefined;
    const all = merge(metadata, own);
    if (all) yield { type: "reasoning_metadata", metadata: all };
  }

  *#finish(
    { unified, raw }: LanguageModelV4FinishReason,
    usage: TokenUsage | undefined,
  ): Generator<ModelStreamPart> {
    const finish = (reason: FinishReason): ModelStreamPart => ({
      type: "finish",
      reason,
      ...(usage && { usage }),
    });
    switch (unified) {
      // Calls of an answer that was cut short are left out: they may be cut short as well.
      case "length":
        yield finish("max_tokens");
        return;
      case "content-filter":
        yield finish("content_filter");
        return;
      case "stop":
      case "tool-calls":
        if (this.#isEmpty() && !usage?.outputTokens) yield failed(this.#empty());
        else yield* this.#complete(finish);
        return;
      case "interrupted":
        yield failed(this.#missingEnd());
        return;
      case "error":
      case "other":
        // Without the server's own word the stream ended before the answer did.
        if (raw === undefined) yield failed(this.#missingEnd());
        else if (unified === "error" || /error|insufficient/i.test(raw)) {
          yield failed(serverFailure(this.#options.endpoint, `it ended the answer with "${raw}"`));
        } else if (this.#isEmpty()) yield failed(this.#empty());
        else yield* this.#complete(finish);
        return;
      default:
        unified satisfies never;
        yield failed(this.#missingEnd());
    }
  }

  *#complete(finish: (reason: FinishReason) => ModelStreamPart): Generator<ModelStreamPart> {
    const calls = this.#calls.map((call) => ({ call, callId: this.#uniqueId(call.toolCallId) }));
    const signed = calls.filter(({ call }) => call.providerMetadata !== undefined);
    if (signed.length > 0) {
      const toolCalls = Object.fromEntries(
        signed.map(({ call, callId }) => [callId, call.providerMetadata as JsonObject]),
      );
      const field = this.#fieldIsReasoning && { reasoningField: "reasoning" as const };
      yield { type: "reasoning_metadata", metadata: packOwn({ ...field, toolCalls }) };
    }
    for (const { call, callId } of calls) {
      yield { type: "tool_call", callId, name: call.toolName, arguments: call.input };
    }
    yield finish(calls.length > 0 ? "tool_calls" : "stop");
  }

  /** Some servers count calls from 0 in every answer; in a session an id is used once. */
  #uniqueId(id: string): string {
    let unique = id || "call";
    for (let count = 2; this.#callIds.has(unique); count++) unique = `${id || "call"}-${count}`;
    this.#callIds.add(unique);
    return unique;
  }

  #isEmpty(): boolean {
    return !this.#hasText && this.#calls.length === 0 && !this.#hasReasoning;
  }

  #empty(): ModelFailure {
    return malformed(this.#options.endpoint, "nothing");
  }

  #missingEnd(): ModelFailure {
    const type = this.#options.contentType?.split(";")[0]?.trim().toLowerCase();
    const isStream = type === undefined || type === "" || type === "text/event-stream";
    if (!isStream && this.#isEmpty()) {
      return malformed(this.#options.endpoint, `${type} instead of an event stream`, false);
    }
    return cutOff(this.#options.endpoint);
  }
}

function failed(failure: ModelFailure): ModelStreamPart {
  return { type: "failure", failure };
}

function merge(
  known: JsonObject | undefined,
  more: Readonly<Record<string, unknown>> | undefined,
): JsonObject | undefined {
  return more ? { ...known, ...more as JsonObject } : known;
}

/** Whether a chat completions chunk has its reasoning in `reasoning`, not in `reasoning_content`. */
function streamsReasoningField(chunk: unknown): boolean {
  const { choices } = Object(chunk) as { choices?: unknown };
  const delta = Object(Object(Array.isArray(choices) ? choices[0] : undefined).delta);
  return typeof delta.reasoning === "string" && typeof delta.reasoning_content !== "string";
}

function tokenUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenUsage | undefined {
  const input = count(inputTokens.total);
  const output = count(outputTokens.total);
  if (input === undefined && output === undefined) return undefined;
  const cached = count(inputTokens.cacheRead);
  const written = count(inputTokens.cacheWrite);
  const reasoning = count(outputTokens.reasoning);
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written && { cacheWriteInputTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/** A count is a whole number, whatever a server sends: the log refuses others. */
function count(tokens: number | undefined): number | undefined {
  return Number.isFinite(tokens) ? Math.max(0, Math.round(Number(tokens))) : undefined;
}
