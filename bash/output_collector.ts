import { BoundedText, type KeptText } from "./_bounded_text.ts";
import { ByteRing } from "./_byte_ring.ts";
import { ControlStream } from "./_control_stream.ts";
import { SpillFile, type SpillOptions, type SpillOutcome } from "./_spill_file.ts";
import { boundaryFrom, boundaryNear, utf8Length } from "./_utf8.ts";

/** How much of a command's output is kept. All in bytes. */
export interface OutputLimits {
  /** Raw output shown as it arrives. @default {524288} */
  readonly displayHead?: number;
  /** Raw output shown of the end, once the head is full. @default {65536} */
  readonly displayTail?: number;
  /** Plain text kept for the model, a quarter of it from the start. @default {64000} */
  readonly text?: number;
  /** The file with the full output. @default {67108864} */
  readonly spill?: number;
}

/** Options for {@linkcode OutputCollector}. */
export interface OutputOptions {
  /** How much to keep. */
  readonly limits?: OutputLimits;
  /** Receives decoded output as it arrives, until the head is full. */
  readonly onOutput?: (text: string) => void;
  /** Absent: the full output is not kept. */
  readonly spill?: SpillOptions;
}

/** What is kept of a command's output. */
export interface CollectedOutput {
  /** As a terminal would receive it. Begins with everything passed to `onOutput`. */
  readonly display: string;
  /** As a person would read it: no control sequences, only the last frame of a redrawn line. */
  readonly text: string;
  /** Bytes the command wrote. */
  readonly bytesSeen: number;
  /** Bytes of `text` that come from the command. */
  readonly bytesKept: number;
  /** The file that holds what `text` leaves out. */
  readonly fullOutput?: string;
}

/**
 * How much output is cleaned as it arrives. What lies between this and the last
 * {@linkcode RING} bytes is counted, spilled and never decoded: no reader keeps it.
 */
const CLEANED = 4 * 1024 * 1024;
const RING = 256 * 1024;
/** How far into the tail a line start is looked for. */
const LINE_SEARCH = 4096;

/**
 * Takes a command's raw output and keeps two bounded views of it: one for a terminal, one to read.
 * Memory stays below 3 MiB or so whatever the command prints.
 */
export class OutputCollector {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #textLimit: number;
  #onOutput: ((text: string) => void) | undefined;
  readonly #spill: SpillFile | undefined;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #control = new ControlStream();
  readonly #bounded: BoundedText;
  readonly #ring: ByteRing;
  #seen = 0;
  #display: string[] = [];
  #headBytes = 0;
  #headFull = false;

  /** No memory is taken before there is output. */
  constructor(options: OutputOptions = {}) {
    const limits = options.limits ?? {};
    this.#headLimit = limits.displayHead ?? 512 * 1024;
    this.#tailLimit = limits.displayTail ?? 64 * 1024;
    this.#textLimit = limits.text ?? 64_000;
    this.#onOutput = options.onOutput;
    this.#bounded = new BoundedText(this.#textLimit);
    this.#ring = new ByteRing(Math.max(RING, this.#tailLimit, this.#textLimit));
    this.#spill = options.spill &&
      new SpillFile(options.spill, limits.spill ?? 64 * 1024 * 1024);
  }

  /** Takes the next bytes. A promise means that the caller should wait before reading on. */
  push(chunk: Uint8Array): Promise<void> | undefined {
    if (chunk.length === 0) return undefined;
    const before = this.#seen;
    this.#seen += chunk.length;
    const head = this.#takeHead(chunk);
    if (head < chunk.length) this.#ring.push(chunk.subarray(head));
    const cleaned = Math.min(chunk.length, Math.max(0, CLEANED - before));
    if (cleaned > head) {
      this.#read(this.#decoder.decode(chunk.subarray(head, cleaned), { stream: true }));
    }
    return this.#keepFull(chunk);
  }

  /** Ends the streams and returns what is kept. */
  async finish(): Promise<CollectedOutput> {
    const rest = this.#finishText();
    const kept = this.#bounded.finish();
    const display = this.#finishDisplay(rest);
    const spilled: SpillOutcome = await this.#spill?.finish(kept.leftOut > 0) ?? { type: "none" };
    return {
      display,
      text: joinText(kept, spilled),
      bytesSeen: this.#seen,
      bytesKept: utf8Length(kept.head) + utf8Length(kept.tail),
      ...(spilled.type === "file" && { fullOutput: spilled.path }),
    };
  }

  /** Shows the part of `chunk` that still fits the head; returns its length. */
  #takeHead(chunk: Uint8Array): number {
    if (this.#headFull) return 0;
    const room = Math.max(0, this.#headLimit - this.#headBytes);
    const length = boundaryNear(chunk, room);
    this.#headFull = length < chunk.length;
    this.#headBytes += length;
    this.#show(this.#decoder.decode(chunk.subarray(0, length), { stream: true }));
    return length;
  }

  #show(text: string): void {
    if (text === "") return;
    this.#display.push(text);
    try {
      this.#onOutput?.(text);
    } catch {
      // Whoever watches is gone; the command goes on, and its result has everything.
      this.#onOutput = undefined;
    }
    this.#read(text);
  }

  #read(text: string): void {
    this.#bounded.push(this.#control.push(text));
  }

  #keepFull(chunk: Uint8Array): Promise<void> | undefined {
    const spill = this.#spill;
    if (!spill) return undefined;
    const wait = spill.push(chunk);
    if (spill.opened || (this.#seen <= this.#textLimit && !this.#bounded.overflowed)) return wait;
    return spill.open();
  }

  /** Ends the readable view; returns what the decoder still held of a head that is not full. */
  #finishText(): string {
    const uncleaned = this.#seen - CLEANED;
    if (uncleaned <= 0) {
      const rest = this.#decoder.decode();
      this.#read(rest);
      this.#bounded.push(this.#control.end());
      return this.#headFull ? "" : rest;
    }
    const last = this.#ring.last(uncleaned);
    if (last.length === uncleaned) {
      this.#read(this.#decoder.decode(last));
    } else {
      this.#bounded.push(this.#control.end());
      const from = lineStart(last);
      this.#bounded.skip(uncleaned - last.length + from);
      this.#read(new TextDecoder().decode(last.subarray(from)));
    }
    this.#bounded.push(this.#control.end());
    return "";
  }

  #finishDisplay(rest: string): string {
    this.#display.push(rest);
    const afterHead = this.#seen - this.#headBytes;
    if (afterHead > 0) {
      const tail = this.#ring.last(Math.min(this.#tailLimit, afterHead));
      const from = tail.length < afterHead ? lineStart(tail) : 0;
      const leftOut = afterHead - tail.length + from;
      if (leftOut > 0) this.#display.push(displayNotice(leftOut));
      this.#display.push(
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(tail.subarray(from)),
      );
    }
    return this.#display.join("");
  }
}

/** Where the first whole line begins, or at least a whole character. */
function lineStart(bytes: Uint8Array): number {
  const newline = bytes.subarray(0, LINE_SEARCH).indexOf(0x0a);
  return newline === -1 ? boundaryFrom(bytes, 0) : newline + 1;
}

/** Resets colours first: the cut may lie in a coloured stretch, or in a sequence. */
function displayNotice(leftOut: number): string {
  return `\x1b[0m\r\n[... ${leftOut} bytes left out ...]\r\n`;
}

function joinText(kept: KeptText, spilled: SpillOutcome): string {
  if (kept.leftOut === 0) return kept.head;
  const start = kept.head === "" || kept.head.endsWith("\n") ? kept.head : `${kept.head}\n`;
  return `${start}[... ${kept.leftOut} bytes left out${describeSpill(spilled)} ...]\n${kept.tail}`;
}

function describeSpill(spilled: SpillOutcome): string {
  switch (spilled.type) {
    case "none":
      return "";
    case "file":
      return spilled.complete
        ? `; full output: ${spilled.path}`
        : `; the first ${spilled.bytes} bytes of the output: ${spilled.path}`;
    case "failed":
      return `; full output not available: ${spilled.message}`;
    default: {
      const never: never = spilled;
      return never;
    }
  }
}
