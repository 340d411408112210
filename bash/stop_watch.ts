/** Why a command is stopped. */
export type StopReason =
  | { readonly type: "timeout"; readonly afterMs: number }
  | { readonly type: "cancel" };

/** Waits for the first reason to stop a command. Disposing removes the timer and the listener. */
export class StopWatch implements Disposable {
  /** Settles with the first reason, if there ever is one. */
  readonly stopped: Promise<StopReason>;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeoutMs: number | undefined, signal: AbortSignal | undefined) {
    const { promise, resolve } = Promise.withResolvers<StopReason>();
    this.stopped = promise;
    this.#signal = signal;
    this.#onAbort = () => resolve({ type: "cancel" });
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(() => resolve({ type: "timeout", afterMs: timeoutMs }), timeoutMs);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
