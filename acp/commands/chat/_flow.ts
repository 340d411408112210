/** Puts pieces of text below each other, as blocks of lines with a prefix. */

/** How a piece of a line looks. */
export type Style = (text: string) => string;

const plain: Style = (text) => text;

/**
 * Keeps track of where the cursor is. Each method returns what to write. A newline is written once
 * something follows it, so that a block ends where its text does.
 */
export class Flow {
  #block: { readonly key: string; readonly line: boolean } | undefined;
  #open = false;
  #newlines = 0;

  /** The block that was written to last. */
  get block(): string | undefined {
    return this.#block?.key;
  }

  /** Goes on with a block, or starts it: a blank line sets it off, unless both are `line`s. */
  enter(key: string, { line = false }: { readonly line?: boolean } = {}): string {
    const last = this.#block;
    if (last?.key === key) return "";
    const gap = last && !(last.line && line) ? "\n" : "";
    const closed = this.close();
    this.#block = { key, line };
    return closed + gap;
  }

  /** Writes text that goes on where the last piece ended. */
  stream(text: string, prefix = "", style: Style = plain): string {
    let out = "";
    text.split("\n").forEach((piece, index) => {
      if (index > 0) this.#newlines++;
      if (piece === "") return;
      // Blank lines at the start of a block would be a second gap.
      if (this.#open && this.#newlines > 0) {
        out += `\n${`${prefix.trimEnd()}\n`.repeat(this.#newlines - 1)}`;
        this.#open = false;
      }
      if (!this.#open) out += prefix;
      out += style(piece);
      this.#open = true;
      this.#newlines = 0;
    });
    return out;
  }

  /** Writes whole lines. */
  lines(text: string, style: Style = plain, prefix = "", rest = prefix): string {
    const shown = text.replace(/\n+$/, "").split("\n");
    return this.close() +
      shown.map((line, index) => `${index === 0 ? prefix : rest}${style(line)}\n`).join("");
  }

  /** Ends the line the cursor is on. */
  close(): string {
    const end = this.#open ? "\n" : "";
    this.#open = false;
    this.#newlines = 0;
    return end;
  }

  /** Ends everything: what follows starts as on an empty screen. */
  end(): string {
    this.#block = undefined;
    return this.close();
  }
}
