/** Pasted text in a line editor: its newlines are shown and do not end the line. */

const START = "\x1b[200~";
const END = "\x1b[201~";
/** A marker that the end of a piece cut off. By itself the first character is a key. */
// deno-lint-ignore no-control-regex -- it is what is looked for
const CUT_START = /\x1b\[(?:2(?:00?)?)?$/;
// deno-lint-ignore no-control-regex -- it is what is looked for
const CUT_END = /\x1b(?:\[(?:2(?:01?)?)?)?$/;
/** Stands for a newline inside a line. */
const NEWLINE = "␊";

/** Takes bracketed paste (`CSI 200 ~` to `CSI 201 ~`) out of what a terminal sends. */
export class PasteFilter {
  #held = "";
  #pasting = false;

  /** Takes the next piece and returns what the line editor is to see. */
  push(piece: string): string {
    let rest = this.#held + piece;
    let shown = "";
    this.#held = "";
    while (rest !== "") {
      const pasting = this.#pasting;
      const marker = pasting ? END : START;
      const at = rest.indexOf(marker);
      const part = at === -1 ? rest.replace(pasting ? CUT_END : CUT_START, "") : rest.slice(0, at);
      shown += pasting ? pasted(part) : part;
      if (at === -1) {
        this.#held = rest.slice(part.length);
        break;
      }
      this.#pasting = !pasting;
      rest = rest.slice(at + marker.length);
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
