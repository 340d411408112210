/** What the person sees: everything for stdout and stderr goes through here, in order. */

/** Where the screen writes. */
export interface ScreenOutput {
  /** Writes bytes to stdout and returns how many. */
  readonly stdout: (bytes: Uint8Array) => number;
  /** Writes bytes to stderr and returns how many. */
  readonly stderr: (bytes: Uint8Array) => number;
  /** Whether stdout is a terminal, where lines of stderr come between its own. */
  readonly isTerminal: boolean;
  /** Is told when stdout takes no more, as its reader is gone. */
  readonly onGone: () => void;
}

/** A line that a person is editing. */
export interface EditedLine {
  /** Takes the line away, has `write` called, and draws the line again below. */
  above(write: () => void): void;
}

/** Writes in whole, and around the line that is being edited. */
export class Screen {
  readonly #output: ScreenOutput;
  #line: EditedLine | undefined;
  #held = "";
  /** Whether the cursor is behind some text. */
  #midLine = false;

  constructor(output: ScreenOutput) {
    this.#output = output;
  }

  /** Writes to stdout; while a line is edited, only once that is done. */
  print(text: string): void {
    if (this.#line) this.#held += text;
    else this.write(text);
  }

  /** Writes a line to stderr at once. */
  note(line: string): void {
    const write = () => {
      try {
        writeAll(this.#output.stderr, `${line}\n`);
      } catch {
        // Who closed stderr does not want to know.
      }
    };
    if (this.#line) return this.#line.above(write);
    if (this.#midLine && this.#output.isTerminal) this.write("\n");
    write();
  }

  /** Writes to stdout whatever is going on: for the line editor. */
  write(text: string): void {
    if (text === "") return;
    this.#midLine = !text.endsWith("\n");
    try {
      writeAll(this.#output.stdout, text);
    } catch {
      // Whoever read it is gone, so there is nobody left to tell.
      this.#output.onGone();
    }
  }

  /** Says that a line is being edited from now on, or no longer. */
  set editing(line: EditedLine | undefined) {
    this.#line = line;
    if (line) return;
    const held = this.#held;
    this.#held = "";
    this.write(held);
  }
}

function writeAll(write: (bytes: Uint8Array) => number, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let sent = 0; sent < bytes.length;) sent += write(bytes.subarray(sent));
}
