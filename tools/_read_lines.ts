/** Reads a window of lines out of a byte stream, in memory that does not grow with the file. */

/** Which lines to keep, and how much of them. */
export interface LineWindow {
  /** The first line, counted from 1. */
  readonly offset: number;
  readonly maxLines: number;
  /** The most bytes of all lines together, as UTF-8. */
  readonly maxBytes: number;
  /** The most UTF-16 units of one line. The rest of it is left out, and the line says so. */
  readonly maxColumns: number;
}

/** The lines of a window, and what ended it. */
export interface LinesRead {
  readonly lines: readonly string[];
  /** `end`: the last line of the file is included, or lies before the window. */
  readonly stoppedBy: "end" | "lines" | "bytes";
  /** How many lines were passed: all of the file if `stoppedBy` is `end`. */
  readonly seen: number;
  /** Some bytes of the window are not UTF-8 and show as U+FFFD. */
  readonly invalid: boolean;
}

const NEWLINE = 10;

/** Reads the window. Lines end in `\n` or `\r\n`, which are not part of them. */
export async function readLines(
  chunks: AsyncIterable<Uint8Array>,
  window: LineWindow,
): Promise<LinesRead> {
  const collector = new LineCollector(window);
  for await (const chunk of chunks) {
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline === -1 ? chunk.length : newline;
      collector.append(chunk.subarray(start, end));
      if (newline !== -1) collector.endLine();
      if (collector.full) return collector.result();
      start = end + 1;
    }
  }
  collector.endFile();
  return collector.result();
}

class LineCollector {
  full = false;
  #window: LineWindow;
  #lines: string[] = [];
  #bytes = 0;
  #seen = 0;
  #invalid = false;
  #stoppedBy: LinesRead["stoppedBy"] = "end";
  /** The beginning of the current line: enough bytes for `maxColumns` units of any text. */
  #line: Uint8Array;
  #kept = 0;
  #length = 0;

  constructor(window: LineWindow) {
    this.#window = window;
    this.#line = new Uint8Array(window.maxColumns * 4 + 4);
  }

  append(bytes: Uint8Array): void {
    // A line has begun beyond the window: there is more, and that is all one needs to know.
    if (bytes.length > 0 && this.#lines.length === this.#window.maxLines) this.#stop("lines");
    this.#length += bytes.length;
    if (this.#seen + 1 < this.#window.offset) return;
    const part = bytes.subarray(0, this.#line.length - this.#kept);
    this.#line.set(part, this.#kept);
    this.#kept += part.length;
  }

  endLine(): void {
    if (this.full) return;
    if (this.#seen + 1 >= this.#window.offset) {
      if (this.#lines.length === this.#window.maxLines) return this.#stop("lines");
      const { text, invalid } = this.#decode();
      const size = new TextEncoder().encode(text).length + 1;
      if (this.#bytes + size > this.#window.maxBytes && this.#lines.length > 0) {
        return this.#stop("bytes");
      }
      this.#bytes += size;
      this.#lines.push(text);
      this.#invalid ||= invalid;
    }
    this.#seen++;
    this.#kept = 0;
    this.#length = 0;
  }

  endFile(): void {
    if (this.#length > 0) this.endLine();
  }

  result(): LinesRead {
    const { full } = this;
    return {
      lines: this.#lines,
      stoppedBy: full ? this.#stoppedBy : "end",
      seen: this.#seen,
      invalid: this.#invalid,
    };
  }

  #stop(reason: "lines" | "bytes"): void {
    this.full = true;
    this.#stoppedBy = reason;
  }

  #decode(): { text: string; invalid: boolean } {
    const whole = this.#kept === this.#length;
    const text = new TextDecoder().decode(this.#line.subarray(0, this.#kept)).replace(/\r$/, "");
    const { maxColumns } = this.#window;
    const shown = whole && text.length <= maxColumns
      ? text
      : `${cut(text, maxColumns)}... (line truncated to ${maxColumns} chars)`;
    return { text: shown, invalid: shown.includes("\uFFFD") && !this.#isUtf8(whole) };
  }

  #isUtf8(whole: boolean): boolean {
    try {
      // Of a line that was cut, the last character may be incomplete: `stream` accepts that.
      new TextDecoder("utf-8", { fatal: true })
        .decode(this.#line.subarray(0, this.#kept), { stream: !whole });
      return true;
    } catch {
      return false; // That it does not decode is the answer.
    }
  }
}

/** Cuts a string without splitting a surrogate pair. */
export function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
