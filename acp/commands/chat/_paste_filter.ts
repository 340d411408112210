/** Pasted text in a line editor: its newlines are shown and do not end the line. */

const START = "\x1b[200~";
const END = "\x1b[201~";
/** A marker that the end of a piece cut off, from its second character on. */
// deno-lint-ignore no-control-regex -- it is what is looked for
const CUT = /\x1b\[(?:2(?:0[01]?)?)?$/;
/** Stands for a newline inside a line. */
const NEWLINE = "␊";

/** Takes bracketed paste (`CSI 200 ~` to `CSI 201 ~`) out of what a terminal sends. */
export class PasteFilter {
  #held = "";
  #pasting = false;

  /** Takes the next piece and returns what the line editor is to see. */
  push(piece: string): string {
    const text = this.#held + piece;
    const whole = text.replace(CUT, "");
    this.#held = text.slice(whole.length);
    let shown = "";
    let from = 0;
    while (from < whole.length) {
      const marker = this.#pasting ? END : START;
      const found = whole.indexOf(marker, from);
      const to = found === -1 ? whole.length : found;
      const part = whole.slice(from, to);
      shown += this.#pasting ? pasted(part) : part;
      if (found === -1) break;
      this.#pasting = !this.#pasting;
      from = to + marker.length;
    }
    return shown;
  }
}

/** The text that a line with shown newlines stands for. */
export function withNewlines(line: string): string {
  return line.replaceAll(NEWLINE, "\n");
}

/** No key of an editor can be pasted. */
function pasted(text: string): string {
  return text.replace(/\r\n?|\n/g, NEWLINE).replaceAll("\t", "  ").replace(/\p{Cc}/gu, "");
}
