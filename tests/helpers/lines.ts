/** Lines of a byte stream, with the possibility to stop reading for a while. */
export class LineReader {
  readonly #stream: ReadableStream<Uint8Array>;
  readonly #onLine: (line: string, at: number) => void;
  #gate: PromiseWithResolvers<void> | undefined;
  #tail = "";

  constructor(
    stream: ReadableStream<Uint8Array>,
    onLine: (line: string, at: number) => void,
  ) {
    this.#stream = stream;
    this.#onLine = onLine;
  }

  /** Stops taking bytes, so that the writer meets a full pipe. */
  pause(): void {
    this.#gate ??= Promise.withResolvers<void>();
  }

  /** Goes on reading. */
  resume(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  /** Reads until the stream ends. An unfinished last line counts as one. */
  async run(): Promise<void> {
    const decoder = new TextDecoder();
    const reader = this.#stream.getReader();
    while (true) {
      await this.#gate?.promise;
      const { done, value } = await reader.read();
      const at = performance.now();
      const text = this.#tail + (done ? decoder.decode() : decoder.decode(value, { stream: true }));
      const lines = text.split("\n");
      this.#tail = lines.pop() ?? "";
      for (const line of lines) this.#onLine(line, at);
      if (!done) continue;
      if (this.#tail) this.#onLine(this.#tail, at);
      return;
    }
  }
}
