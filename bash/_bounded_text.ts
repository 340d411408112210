import { utf8Head, utf8Length, utf8Tail } from "./_utf8.ts";

/** What {@linkcode BoundedText.finish} keeps. */
export interface KeptText {
  readonly head: string;
  /** Bytes between `head` and `tail` that are not kept. */
  readonly leftOut: number;
  readonly tail: string;
}

/**
 * Keeps the start and the end of a text. A quarter is the start, which shows what the command set
 * out to do; the rest is the end, where errors and summaries stand.
 */
export class BoundedText {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = "";
  #headBytes = 0;
  #headFull = false;
  #tail: string[] = [];
  #tailBytes = 0;
  #seen = 0;
  #skipped = false;

  /** @param limit How many bytes of UTF-8 to keep. */
  constructor(limit: number) {
    this.#headLimit = Math.floor(limit / 4);
    this.#tailLimit = limit - this.#headLimit;
  }

  /** Tells whether something had to be left out. */
  get overflowed(): boolean {
    return this.#skipped || this.#seen > this.#headLimit + this.#tailLimit;
  }

  push(text: string): void {
    if (text === "") return;
    let rest = text;
    let bytes = utf8Length(text);
    this.#seen += bytes;
    if (!this.#headFull) {
      const part = utf8Head(rest, this.#headLimit - this.#headBytes);
      const taken = part.length === rest.length ? bytes : utf8Length(part);
      this.#head += part;
      this.#headBytes += taken;
      this.#headFull = part.length < rest.length;
      rest = rest.slice(part.length);
      bytes -= taken;
    }
    if (rest === "") return;
    this.#tail.push(rest);
    this.#tailBytes += bytes;
    if (this.#tailBytes > this.#tailLimit * 2 || this.#tail.length > 4096) {
      const kept = utf8Tail(this.#tail.join(""), this.#tailLimit);
      this.#tail = [kept];
      this.#tailBytes = utf8Length(kept);
    }
  }

  /** Leaves `bytes` bytes out that were never pushed; what follows them is the end. */
  skip(bytes: number): void {
    this.#seen += bytes;
    this.#skipped = true;
    this.#headFull = true;
    this.#tail = [];
    this.#tailBytes = 0;
  }

  finish(): KeptText {
    let head = this.#head;
    let tail = this.#tail.join("");
    if (!this.overflowed) return { head: head + tail, leftOut: 0, tail: "" };
    tail = fromLineStart(utf8Tail(tail, this.#tailLimit));
    head = toLineEnd(head);
    return { head, leftOut: this.#seen - utf8Length(head) - utf8Length(tail), tail };
  }
}

/** Drops the rest of a cut line, unless that is most of the text. */
function fromLineStart(text: string): string {
  const at = text.indexOf("\n") + 1;
  return at > 0 && at < text.length / 2 ? text.slice(at) : text;
}

/** Drops the start of a cut line, unless that is most of the text. */
function toLineEnd(text: string): string {
  const at = text.lastIndexOf("\n") + 1;
  return at > text.length / 2 ? text.slice(0, at) : text;
}
