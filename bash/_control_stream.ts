import { endOfWhole, hasControl, resolveBackspaces, stripEscapes } from "../tools/control_text.ts";

/** A line longer than this is let go of in pieces, so that memory stays bounded. In UTF-16 units. */
const MAX_LINE = 65_536;
/**
 * `stripControl` for text that arrives in pieces: cutting the input elsewhere gives the same
 * output. Memory is bounded: a frame longer than 64 Ki units is passed on before it is complete.
 */
export class ControlStream {
  #held = "";
  /** What earlier frames of the current line show. */
  #shown = "";
  #frame = "";

  /** Takes the next piece and returns the text that can no longer change. */
  push(piece: string): string {
    if (this.#held === "" && this.#shown === "" && this.#frame === "" && !hasControl(piece)) {
      const end = piece.lastIndexOf("\n") + 1;
      this.#frame = piece.slice(end);
      return piece.slice(0, end) + this.#letGo();
    }
    let text = this.#held + piece;
    const end = endOfWhole(text);
    this.#held = text.slice(end);
    text = text.slice(0, end);
    return this.#fold(stripEscapes(text)) + this.#letGo();
  }

  /** Returns what the unfinished line shows so far, and goes on as on a new line. */
  takeLine(): string {
    return this.#endLine();
  }

  /** Returns the rest. */
  end(): string {
    const rest = this.#fold(stripEscapes(this.#held)) + this.#endLine();
    this.#held = "";
    return rest;
  }

  #fold(text: string): string {
    let done = "";
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#draw(text.slice(from, end));
      done += this.#endLine() + "\n";
      from = end + 1;
    }
    this.#draw(text.slice(from));
    return done;
  }

  #draw(part: string): void {
    if (!part.includes("\r") && !part.includes("\b")) {
      this.#frame += part;
      return;
    }
    part.split("\r").forEach((frame, index) => {
      if (index > 0) this.#endFrame();
      this.#frame = resolveBackspaces(this.#frame + frame);
    });
  }

  #endFrame(): void {
    if (this.#frame !== "") this.#shown = this.#frame;
    this.#frame = "";
  }

  #endLine(): string {
    const line = this.#frame || this.#shown;
    this.#frame = "";
    this.#shown = "";
    return line;
  }

  #letGo(): string {
    return this.#frame.length > MAX_LINE ? this.#endLine() : "";
  }
}
