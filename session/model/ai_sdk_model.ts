/** The adapter from a language model of the AI SDK (specification version 4) to {@linkcode Model}. */
import type {
  LanguageModelV4,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { Answer } from "./_answer.ts";
import { aborted, type Endpoint, failureOf, idle } from "./_failure.ts";
import { Patience, type Waited } from "./_patience.ts";
import { type Dialect, functionTools, promptOf } from "./_prompt.ts";
import type { Model, ModelFailure, ModelInfo, ModelRequest, ModelStreamPart } from "./model.ts";
import { type StartTimer, startTimer } from "./start_timer.ts";

/** How long a provider may send nothing, in milliseconds. */
export const DEFAULT_IDLE_TIMEOUT_MS = 300_000;

/** Options for {@linkcode AiSdkModel}. */
export interface AiSdkModelOptions {
  readonly info: ModelInfo;
  readonly endpoint: Endpoint;
  readonly dialect: Dialect;
  /** Makes the provider's model. Called at the first request, and again if it failed. */
  load(): Promise<LanguageModelV4>;
  /** What a request asks of the provider beyond the specification. */
  providerOptions?(request: ModelRequest): SharedV4ProviderOptions | undefined;
  /** The longest wait for the next part of an answer, in milliseconds. @default {300_000} */
  readonly idleTimeoutMs?: number;
  /** @default {the timer of the runtime} */
  readonly startTimer?: StartTimer;
  /** Milliseconds since the Unix epoch, for a `Retry-After` date. @default {Date.now} */
  readonly now?: () => number;
}

/** A {@linkcode Model} on top of an AI SDK provider. It does not retry: the turn loop does. */
export class AiSdkModel implements Model {
  readonly info: ModelInfo;
  readonly #options: AiSdkModelOptions;
  readonly #idleTimeoutMs: number;
  readonly #startTimer: StartTimer;
  readonly #now: () => number;
  #loaded: Promise<LanguageModelV4> | undefined;

  constructor(options: AiSdkModelOptions) {
    this.info = options.info;
    this.#options = options;
    this.#idleTimeoutMs = options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS;
    this.#startTimer = options.startTimer ?? startTimer;
    this.#now = options.now ?? Date.now;
  }

  /** Asks the model. Never throws; ends with exactly one `finish` or `failure`. */
  async *stream(request: ModelRequest): AsyncGenerator<ModelStreamPart, void, void> {
    const { endpoint } = this.#options;
    const cancel = new AbortController();
    using patience = new Patience(request.signal, this.#idleTimeoutMs, this.#startTimer);
    let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
    try {
      // A request that is cancelled already is not sent.
      if (request.signal.aborted) return yield { type: "failure", failure: aborted(endpoint) };
      const asking = this.#ask(request, cancel.signal);
      const asked = await patience.wait(asking);
      if (asked.type !== "value") {
        discard(asking);
        return yield { type: "failure", failure: this.#failure(asked) };
      }
      const { stream, response } = asked.value;
      reader = stream.getReader();
      const answer = new Answer({
        endpoint,
        now: this.#now,
        usedCallIds: callIdsOf(request),
        contentType: response?.headers?.["content-type"],
      });
      while (true) {
        const read = await patience.wait(reader.read());
        if (read.type !== "value") {
          return yield { type: "failure", failure: this.#failure(read) };
        }
        if (read.value.done) return yield answer.end();
        for (const part of answer.take(read.value.value)) {
          yield part;
          if (part.type === "finish" || part.type === "failure") return;
        }
      }
    } catch (error) {
      // Nothing above is known to throw; the contract holds all the same.
      yield { type: "failure", failure: failureOf(error, endpoint, this.#now) };
    } finally {
      // Ends the request, also when the consumer leaves early. Nobody waits for it, since a
      // provider that hangs must not hold the turn.
      cancel.abort();
      reader?.cancel().catch(ignore);
    }
  }

  async #ask(request: ModelRequest, signal: AbortSignal): Promise<LanguageModelV4StreamResult> {
    const model = await this.#model();
    const providerOptions = this.#options.providerOptions?.(request);
    const { dialect } = this.#options;
    return await model.doStream({
      prompt: promptOf(request, dialect),
      abortSignal: signal,
      // Only there does the field of the reasoning vary.
      ...(dialect.id === "openai" && { includeRawChunks: true }),
      ...(request.tools.length > 0 && { tools: functionTools(request.tools) }),
      ...(providerOptions && { providerOptions }),
    });
  }

  #model(): Promise<LanguageModelV4> {
    const loaded = this.#loaded ??= this.#options.load();
    loaded.catch(() => {
      // The request reports it; the next one tries again.
      if (this.#loaded === loaded) this.#loaded = undefined;
    });
    return loaded;
  }

  #failure(waited: Exclude<Waited<unknown>, { type: "value" }>): ModelFailure {
    const { endpoint } = this.#options;
    switch (waited.type) {
      case "aborted":
        return aborted(endpoint);
      case "idle":
        return idle(endpoint, this.#idleTimeoutMs);
      case "error":
        return failureOf(waited.error, endpoint, this.#now);
    }
  }
}

function callIdsOf({ messages }: ModelRequest): string[] {
  return messages.flatMap((message) =>
    message.role === "tool" ? message.results.map((result) => result.callId) : []
  );
}

/** A provider that ignores the signal may still answer. */
function discard(asking: Promise<LanguageModelV4StreamResult>): void {
  asking.then(({ stream }) => stream.cancel()).catch(ignore);
}

/** The request is over and its outcome reported: how its remains end changes nothing. */
function ignore(): void {}
