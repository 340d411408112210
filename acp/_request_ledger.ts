import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { describedAnswer, type RequestFacts } from "./_describe_errors.ts";

/** How long the end of the input is held back for answers, in milliseconds. */
const HOLD_MS = 150;

interface OpenRequest extends RequestFacts {
  readonly cancel: AbortController;
  /** `performance.now()` when it arrived. */
  readonly at: number;
  /** Is called when it is answered with a result. */
  then?: () => void;
}

/**
 * The requests that arrived and are not answered yet, in the order of the wire. The SDK starts
 * handlers concurrently, so what depends on that order is decided here:
 *
 * - `session/cancel` reaches the prompts that arrived before it, started or not, and no later one;
 * - what follows `initialize` waits for its answer;
 * - what is to follow an answer is begun once the answer is on its way;
 * - the end of the input waits for answers, prompts excepted: those are cancelled.
 */
export class RequestLedger {
  readonly stream: Stream;
  #open = new Map<unknown, OpenRequest>();
  #answered = Promise.withResolvers<void>();
  #trace: ((line: string) => void) | undefined;

  /** `trace` is given a line for each answer: method, id, outcome and time, no contents. */
  constructor(stream: Stream, trace?: (line: string) => void) {
    this.#trace = trace;
    const readable = stream.readable.pipeThrough(
      new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, controller) => this.#receive(message, controller),
        flush: () => withinTime(this.#none(({ method }) => method !== "session/prompt")),
      }),
    );
    const outgoing = stream.writable.getWriter();
    const writable = new WritableStream<AnyMessage>({
      write: (message) => this.#send(message, outgoing),
      close: () => outgoing.close(),
      abort: (reason) => outgoing.abort(reason),
    });
    this.stream = { readable, writable };
  }

  /** Aborts when a `session/cancel` reaches the prompt of this request id. */
  cancelSignal(requestId: unknown): AbortSignal {
    return this.#open.get(requestId)?.cancel.signal ?? AbortSignal.abort();
  }

  /**
   * Calls back when a request is answered with a result: whatever is sent from then on is on the
   * wire after that answer. Not at all, if the answer is an error.
   */
  afterResult(requestId: unknown, then: () => void): void {
    const request = this.#open.get(requestId);
    if (request) request.then = then;
  }

  async #receive(
    message: AnyMessage,
    controller: TransformStreamDefaultController<AnyMessage>,
  ): Promise<void> {
    await this.#none(({ method }) => method === "initialize");
    if ("method" in message && "id" in message) {
      const { method, params } = message;
      const cancel = new AbortController();
      this.#open.set(message.id, { method, params, cancel, at: performance.now() });
    } else if ("method" in message && message.method === "session/cancel") {
      this.#cancel(sessionOf(message.params));
    }
    controller.enqueue(message);
  }

  #cancel(sessionId: unknown): void {
    for (const { method, params, cancel } of this.#open.values()) {
      if (method === "session/prompt" && sessionOf(params) === sessionId) cancel.abort();
    }
  }

  async #send(
    message: AnyMessage,
    outgoing: WritableStreamDefaultWriter<AnyMessage>,
  ): Promise<void> {
    const request = "method" in message || !("id" in message)
      ? undefined
      : this.#open.get(message.id);
    const written = outgoing.write(request ? describedAnswer(message, request) : message);
    if ("result" in message) request?.then?.();
    await written;
    if (!request || !("id" in message)) return;
    this.#open.delete(message.id);
    const outcome = "error" in message ? `error ${message.error.code}` : "answered";
    const time = (performance.now() - request.at).toFixed(0);
    this.#trace?.(`${request.method} (${JSON.stringify(message.id)}): ${outcome} in ${time} ms`);
    this.#answered.resolve();
    this.#answered = Promise.withResolvers<void>();
  }

  /** Resolves when no request of this kind is open. */
  async #none(kind: (request: OpenRequest) => boolean): Promise<void> {
    while ([...this.#open.values()].some(kind)) await this.#answered.promise;
  }
}

function sessionOf(params: unknown): unknown {
  return (params as { sessionId?: unknown } | null | undefined)?.sessionId;
}

async function withinTime(promise: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, HOLD_MS);
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
