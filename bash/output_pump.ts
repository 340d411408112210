import type { CollectedOutput } from "./output_collector.ts";
import type { Shell } from "./start_shell.ts";

/** What takes a command's output. */
export interface OutputSink {
  /** Takes the next bytes. A promise means that the reader should wait before it reads on. */
  push(chunk: Uint8Array): Promise<void> | undefined;
  /** Ends the output and says what is kept of it. */
  finish(): Promise<CollectedOutput>;
}

/** Reads a shell's output until nobody can write to it any more, or until it is cancelled. */
export class OutputPump {
  /** Settles when reading is over. Never rejects. */
  readonly done: Promise<void>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #onChunk: () => void = () => {};

  constructor(shell: Shell, sink: OutputSink) {
    this.#reader = shell.output.getReader();
    this.done = this.#run(shell, sink);
  }

  /** Waits for the end, for `silenceMs` without output, for `maxMs`, or for `hurry`. Tells whether it was the end. */
  async settle(
    options: { silenceMs: number; maxMs: number; hurry?: AbortSignal },
  ): Promise<boolean> {
    const { silenceMs, maxMs, hurry } = options;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = () => resolve(false);
    let silence = setTimeout(giveUp, silenceMs);
    const limit = setTimeout(giveUp, maxMs);
    this.#onChunk = () => {
      clearTimeout(silence);
      silence = setTimeout(giveUp, silenceMs);
    };
    if (hurry?.aborted) giveUp();
    hurry?.addEventListener("abort", giveUp, { once: true });
    void this.done.then(() => resolve(true));
    try {
      return await promise;
    } finally {
      this.#onChunk = () => {};
      clearTimeout(silence);
      clearTimeout(limit);
      hurry?.removeEventListener("abort", giveUp);
    }
  }

  /** Stops reading; what is still in the pipe is lost. */
  async cancel(): Promise<void> {
    try {
      await this.#reader.cancel();
    } catch {
      // The pipe broke: there is nothing left to stop.
    }
    await this.done;
  }

  async #run(shell: Shell, sink: OutputSink): Promise<void> {
    try {
      let next = this.#reader.read();
      await sink.push(await shell.preface);
      for (;; next = this.#reader.read()) {
        const { done, value } = await next;
        if (done) return;
        this.#onChunk();
        const wait = sink.push(value);
        if (wait) await wait;
      }
    } catch {
      // A broken pipe ends the output as its end does.
    }
  }
}
