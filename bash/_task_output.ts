import { BoundedText } from "./_bounded_text.ts";
import { ControlStream } from "./_control_stream.ts";
import { SpillFile, type SpillOptions } from "./_spill_file.ts";
import type { CollectedOutput } from "./output_collector.ts";
import type { OutputSink } from "./output_pump.ts";

/** What one read of a task's output gives at most, in bytes. */
const LIMIT = 64_000;
const SPILL = 64 * 1024 * 1024;

/** Collects a task's output between reads: plain text, bounded, and the whole in a file. */
export class TaskOutput implements OutputSink {
  readonly #decoder = new TextDecoder();
  readonly #control = new ControlStream();
  readonly #spill: SpillFile | undefined;
  #unread = new BoundedText(LIMIT);
  #seen = 0;
  #fullOutput: string | undefined;

  constructor(spill?: SpillOptions) {
    this.#spill = spill && new SpillFile(spill, SPILL);
  }

  push(chunk: Uint8Array): Promise<void> | undefined {
    this.#seen += chunk.length;
    this.#unread.push(this.#control.push(this.#decoder.decode(chunk, { stream: true })));
    const spill = this.#spill;
    if (!spill) return undefined;
    const wait = spill.push(chunk);
    return spill.opened || this.#seen <= LIMIT ? wait : this.#open(spill);
  }

  /** What was printed since the last read, an unfinished line included. */
  read(): string {
    this.#unread.push(this.#control.takeLine());
    const { head, leftOut, tail } = this.#unread.finish();
    this.#unread = new BoundedText(LIMIT);
    if (leftOut === 0) return head;
    const where = this.#fullOutput === undefined ? "" : `; full output: ${this.#fullOutput}`;
    return `${head}\n[... ${leftOut} bytes left out${where} ...]\n${tail}`;
  }

  async finish(): Promise<CollectedOutput> {
    this.#unread.push(this.#control.push(this.#decoder.decode()) + this.#control.end());
    const spilled = await this.#spill?.finish(this.#spill.opened);
    return {
      display: "",
      text: "",
      bytesSeen: this.#seen,
      bytesKept: 0,
      ...(spilled?.type === "file" && { fullOutput: spilled.path }),
    };
  }

  async #open(spill: SpillFile): Promise<void> {
    await spill.open();
    this.#fullOutput = spill.path;
  }
}
