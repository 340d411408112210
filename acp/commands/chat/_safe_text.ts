/** Makes text of the model, of tools and of the log safe to write to a terminal. */
import { endOfWhole, stripEscapes } from "../../../tools/control_text.ts";

/** Marks that change the direction of what follows: a line could read as another one. */
const DIRECTION = /[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Select Graphic Rendition: colours and weights, the one kind of sequence that may stay. */
// deno-lint-ignore no-control-regex -- it is what is looked for
const COLOURS = /\x1b\[[0-9;:]*m/g;

const RESETS: ReadonlySet<string> = new Set(["\x1b[m", "\x1b[0m"]);

/** What a terminal would not print as it stands, except newline and tab. */
// deno-lint-ignore no-control-regex -- it is what is looked for
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * Text with every control spelled out, for what a person is to judge. To leave one out would hide
 * what comes with it: a shell runs what stands between the marks of an escape sequence.
 */
export function exactText(text: string): string {
  return text.replace(CONTROLS, spelled).replace(DIRECTION, spelled);
}

/** Text without escape sequences, and with nothing that moves the cursor but newline and tab. */
export function safeText(text: string): string {
  return stripEscapes(text).replace(/[\r\b]/g, "").replace(DIRECTION, spelled);
}

/**
 * The output of a command, in pieces: colours stay, other sequences go; `\r` stays inside a line.
 * A sequence that a piece cuts off waits for the next piece.
 */
export class SafeOutput {
  #held = "";
  readonly #colour: boolean;

  /** Without `colour` colours go as well, and a carriage return starts a line. */
  constructor(colour: boolean) {
    this.#colour = colour;
  }

  /** Takes the next piece and returns what can be written. */
  push(piece: string): string {
    const text = this.#held + piece;
    // The newline of a "\r\n" may be in the next piece.
    const end = text.endsWith("\r") ? text.length - 1 : endOfWhole(text);
    this.#held = text.slice(end);
    return this.#clean(text.slice(0, end).replace(/\r+\n/g, "\n"));
  }

  #clean(text: string): string {
    if (!this.#colour) return safeLines(text);
    let from = 0;
    let clean = "";
    for (const { 0: colour, index } of text.matchAll(COLOURS)) {
      clean += safeFrames(text.slice(from, index)) + (conceals(colour) ? "" : colour);
      from = index + colour.length;
    }
    return clean + safeFrames(text.slice(from));
  }
}

/** The colours that are in force after `text`, when `before` were in force before it. */
export function coloursAfter(text: string, before: string): string {
  let active = before;
  for (const [colour] of text.matchAll(COLOURS)) {
    // A program that never resets them must not have them grow for ever.
    const kept = RESETS.has(colour) || active.length > 200 ? "" : active;
    active = kept + colour;
  }
  return active;
}

/** Whether it hides text: 8, where that is not part of a colour (38, 48, 58). */
function conceals(colour: string): boolean {
  const codes = colour.slice(2, -1).split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    if (codes[at] === 8) return true;
    if ([38, 48, 58].includes(codes[at]!)) at += codes[at + 1] === 2 ? 4 : 2;
  }
  return false;
}

function safeLines(text: string): string {
  return safeText(text.replaceAll("\r", "\n"));
}

function safeFrames(text: string): string {
  return stripEscapes(text).replaceAll("\b", "").replace(DIRECTION, spelled);
}

function spelled(mark: string): string {
  return `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
