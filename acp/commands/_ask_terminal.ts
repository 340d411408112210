/** Asking a person on the terminal, or reading what was piped in. */

/** Where answers come from. */
export interface Keyboard {
  isTerminal(): boolean;
  setRaw(raw: boolean): void;
  read(buffer: Uint8Array): Promise<number | null>;
}

/** No key is this long. */
const LONGEST = 16_384;

const CTRL_C = 3;
const CTRL_D = 4;
const BACKSPACE = 8;
const CTRL_U = 21;
const DELETE = 127;

/** Reads lines, one byte after the other: what follows belongs to the next question. */
export class Answers {
  readonly #keyboard: Keyboard;
  readonly #show: (text: string) => void;
  #pending: number[] = [];

  /** `show` writes where the person looks. */
  constructor(keyboard: Keyboard, show: (text: string) => void) {
    this.#keyboard = keyboard;
    this.#show = show;
  }

  /** Asks; the terminal shows what is typed. Undefined: the input ended. */
  ask(question: string): Promise<string | undefined> {
    this.#show(question);
    return this.line();
  }

  /** Asks without showing what is typed. Undefined: the person gave up. */
  async askHidden(question: string): Promise<string | undefined> {
    // Before the question: who sees it may type at once.
    this.#keyboard.setRaw(true);
    try {
      this.#show(question);
      return await this.line();
    } finally {
      this.#keyboard.setRaw(false);
      this.#show("\n");
    }
  }

  /** The next line, without its end. Undefined: the input ended before it, or was given up. */
  async line(): Promise<string | undefined> {
    const bytes: number[] = [];
    while (bytes.length <= LONGEST) {
      const byte = await this.#next();
      switch (byte) {
        case undefined:
          return bytes.length > 0 ? textOf(bytes) : undefined;
        case CTRL_C:
        case CTRL_D:
          return undefined;
        case 10:
        case 13:
          return textOf(bytes);
        case BACKSPACE:
        case DELETE:
          bytes.pop();
          break;
        case CTRL_U:
          bytes.length = 0;
          break;
        default:
          bytes.push(byte);
      }
    }
    return undefined;
  }

  async #next(): Promise<number | undefined> {
    if (this.#pending.length === 0) {
      const buffer = new Uint8Array(1_024);
      const count = await this.#keyboard.read(buffer);
      if (count === null) return undefined;
      this.#pending = [...buffer.subarray(0, count)];
    }
    return this.#pending.shift();
  }
}

function textOf(bytes: readonly number[]): string {
  return new TextDecoder().decode(Uint8Array.from(bytes)).trim();
}
