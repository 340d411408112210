/** One model request with its retries: streams, records the answer, and says how to go on. */
import type { TurnContext } from "./_turn_context.ts";
import type { AssistantPart, TokenUsage, TurnEnd } from "./events.ts";
import type { Model, ModelFailure, ModelStreamPart } from "./model/model.ts";

type ToolCallPart = Extract<AssistantPart, { type: "tool_call" }>;

/** Whether the turn goes on with tool calls or is over. */
export type StepResult =
  | { readonly type: "tools"; readonly calls: readonly ToolCallPart[]; readonly usage?: TokenUsage }
  | { readonly type: "end"; readonly reason: TurnEnd; readonly usage?: TokenUsage };

/** Asks the model once, and again where that can help. The answer is durable before this resolves. */
export async function runModelStep(
  context: TurnContext,
  model: Model,
  system: string,
): Promise<StepResult> {
  const name = `${model.info.provider}/${model.info.model}`;
  for (let attempt = 1;; attempt++) {
    const answer = await streamAnswer(context, model, system);
    const { parts, ending } = answer;
    if (ending.type === "finish") {
      await context.record({ type: "assistant/message", data: { parts, model: name } });
      return stepResult(parts, ending);
    }
    const delayMs = retryDelay(ending.failure, attempt);
    const retry = !context.signal.aborted && ending.failure.retryable && delayMs !== undefined &&
      attempt < context.limits.maxAttempts;
    // A call that was streamed was not made; what was shown stays in the log.
    const shown = parts.filter((part) => part.type !== "tool_call");
    if (!retry) {
      if (shown.length > 0) {
        await context.record({
          type: "assistant/message",
          data: { parts: shown, model: name, interrupted: true },
        });
      }
      return { type: "end", reason: failedEnd(context.signal, ending.failure) };
    }
    await context.record({
      type: "llm/retry",
      data: {
        attempt: attempt + 1,
        maxAttempts: context.limits.maxAttempts,
        delayMs,
        code: ending.failure.code,
        message: ending.failure.message,
        partial: shown,
      },
    });
    await sleep(delayMs, context.signal);
    if (context.signal.aborted) return { type: "end", reason: { type: "aborted" } };
  }
}

type Ending = Extract<ModelStreamPart, { type: "finish" | "failure" }>;

async function streamAnswer(
  context: TurnContext,
  model: Model,
  system: string,
): Promise<{ parts: AssistantPart[]; ending: Ending }> {
  const parts: AssistantPart[] = [];
  const shown = new ShownText(context);
  const effort = context.config.reasoningEffort;
  const stream = model.stream({
    system,
    messages: context.fold.messages(),
    tools: context.tools.definitions(),
    signal: context.signal,
    ...(effort !== undefined && { reasoningEffort: effort }),
  });
  for await (const part of stream) {
    switch (part.type) {
      case "text":
      case "reasoning": {
        if (part.text === "") break;
        const last = parts.at(-1);
        if (last?.type === part.type && !("metadata" in last)) {
          parts[parts.length - 1] = { ...last, text: last.text + part.text };
        } else parts.push(part);
        await shown.add(part.type, part.text);
        break;
      }
      case "reasoning_metadata": {
        const last = parts.at(-1);
        const { metadata } = part;
        if (last?.type === "reasoning" && !last.metadata) {
          parts[parts.length - 1] = { ...last, metadata };
        } else parts.push({ type: "reasoning", text: "", metadata });
        break;
      }
      case "tool_call":
        parts.push(part);
        break;
      case "finish":
      case "failure":
        return { parts, ending: part };
      default: {
        const never: never = part;
        throw new TypeError(`Cannot read a stream part: ${JSON.stringify(never)}`);
      }
    }
  }
  const message = "The model's stream ended without a finish";
  return {
    parts,
    ending: { type: "failure", failure: { code: "transport", message, retryable: true } },
  };
}

/** Shows an answer as it streams: never one half of a surrogate pair without the other. */
class ShownText {
  #context: TurnContext;
  #held = "";
  #part: "text" | "reasoning" = "text";

  constructor(context: TurnContext) {
    this.#context = context;
  }

  async add(part: "text" | "reasoning", text: string): Promise<void> {
    if (part !== this.#part) await this.#show(this.#held);
    else text = this.#held + text;
    this.#part = part;
    this.#held = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    await this.#show(text.slice(0, text.length - this.#held.length));
  }

  async #show(text: string): Promise<void> {
    if (text !== "") await this.#context.emit({ type: "delta", part: this.#part, text });
  }
}

function stepResult(
  parts: readonly AssistantPart[],
  { reason, usage }: Extract<Ending, { type: "finish" }>,
): StepResult {
  const used = usage && { usage };
  const calls = parts.filter((part) => part.type === "tool_call");
  switch (reason) {
    case "stop":
    case "tool_calls":
      return calls.length > 0
        ? { type: "tools", calls, ...used }
        : { type: "end", reason: { type: "completed" }, ...used };
    case "max_tokens":
      return { type: "end", reason: { type: "max_tokens" }, ...used };
    case "content_filter":
      return { type: "end", reason: { type: "content_filter" }, ...used };
  }
}

function failedEnd(signal: AbortSignal, { code, message }: ModelFailure): TurnEnd {
  return signal.aborted ? { type: "aborted" } : { type: "error", code, message };
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
/** A provider that asks for more than this is better reported than waited for. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Exponential with 10 % jitter, or what the provider asks; undefined where that is too long. */
function retryDelay({ retryAfterMs }: ModelFailure, attempt: number): number | undefined {
  if (retryAfterMs !== undefined) {
    return retryAfterMs <= MAX_RETRY_AFTER_MS ? Math.ceil(retryAfterMs) : undefined;
  }
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  return Math.round(delay * (0.9 + Math.random() * 0.2));
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) return Promise.resolve();
  const wake = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
    resolve();
  };
  const timer = setTimeout(wake, ms);
  signal.addEventListener("abort", wake, { once: true });
  return promise;
}
