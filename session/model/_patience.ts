/** Waiting that ends: on the result, on an abort, or when nothing came for too long. */
import type { StartTimer } from "./start_timer.ts";

/** How a wait ended. */
export type Waited<Value> =
  | { readonly type: "value"; readonly value: Value }
  | { readonly type: "error"; readonly error: unknown }
  | { readonly type: "aborted" }
  | { readonly type: "idle" };

/**
 * Waits for one promise at a time. What it waits for may never settle: an abort or the idle
 * timeout ends the wait all the same.
 */
export class Patience implements Disposable {
  readonly #signal: AbortSignal;
  readonly #idleTimeoutMs: number;
  readonly #startTimer: StartTimer;
  #interrupt: (() => void) | undefined;

  constructor(signal: AbortSignal, idleTimeoutMs: number, startTimer: StartTimer) {
    this.#signal = signal;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#startTimer = startTimer;
    signal.addEventListener("abort", this.#onAbort);
  }

  /** Never rejects. */
  async wait<Value>(work: Promise<Value>): Promise<Waited<Value>> {
    const { promise, resolve } = Promise.withResolvers<Waited<Value>>();
    work.then(
      (value) => resolve({ type: "value", value }),
      (error) => resolve({ type: "error", error }),
    );
    if (this.#signal.aborted) return { type: "aborted" };
    this.#interrupt = () => resolve({ type: "aborted" });
    const stop = this.#startTimer(() => resolve({ type: "idle" }), this.#idleTimeoutMs);
    try {
      const waited = await promise;
      // What fails because of the abort is the abort.
      return this.#signal.aborted ? { type: "aborted" } : waited;
    } finally {
      stop();
      this.#interrupt = undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#interrupt?.();
}
