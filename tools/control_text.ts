/**
 * Makes terminal output readable as plain text: escape sequences go, carriage-return frames and
 * backspaces are resolved as a terminal would.
 */

/** Anything a terminal would not print as it stands, except tab and newline. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

/**
 * Escape sequences (ECMA-48): control sequences, strings (OSC, DCS, SOS, PM, APC) up to their
 * terminator or the end of the line, and the short forms.
 */
const ESCAPES =
  // deno-lint-ignore no-control-regex
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;

/** An escape sequence that the end of the text cut off. */
const UNFINISHED =
  // deno-lint-ignore no-control-regex
  /(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c\n]*\x1b?|[ -/]*)|\x9b[0-?]*[ -/]*|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c\n]*\x1b?)$/;
/** An escape sequence that is not complete by then is no escape sequence. In UTF-16 units. */
const MAX_SEQUENCE = 4_096;

/** Where the escape sequence starts that the end of `text` cut off; its length where there is none. */
export function endOfWhole(text: string): number {
  const unfinished = hasControl(text) ? UNFINISHED.exec(text) : null;
  return unfinished && text.length - unfinished.index <= MAX_SEQUENCE
    ? unfinished.index
    : text.length;
}

/** Controls that neither print nor move within the line. */
// deno-lint-ignore no-control-regex
const SILENT = /[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** Tells whether `text` holds anything that {@linkcode stripControl} would change. */
export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

/** Removes escape sequences and silent controls; `\r`, `\b`, tab and newline stay. */
export function stripEscapes(text: string): string {
  return hasControl(text) ? text.replace(ESCAPES, "").replace(SILENT, "") : text;
}

/**
 * Turns what a terminal would receive into what a person would read in it.
 *
 * - Escape sequences and other control characters are removed.
 * - Of the frames that carriage returns draw over each other in one line, the last one that shows
 *   anything stays, so `10%\r100%\n` is `100%\n` and `\r\n` is a newline.
 * - A backspace takes back the character before it.
 *
 * Cursor movement between lines is not followed: its sequences are removed like any other.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { stripControl } from "@dsh/acp/tools";
 *
 * assertEquals(stripControl("\x1b[32mok\x1b[0m\n 10%\r100%\r\n"), "ok\n100%\n");
 * ```
 *
 * @param text Decoded output, whole: a sequence cut off at the end is removed.
 */
export function stripControl(text: string): string {
  if (!hasControl(text)) return text;
  const plain = stripEscapes(text);
  if (!plain.includes("\r") && !plain.includes("\b")) return plain;
  return plain.split("\n").map(foldLine).join("\n");
}

/** Resolves the carriage returns and backspaces of one line. */
export function foldLine(line: string): string {
  let shown = "";
  for (const frame of line.split("\r")) {
    const text = resolveBackspaces(frame);
    if (text !== "") shown = text;
  }
  return shown;
}

/** Resolves the backspaces of one frame; one at its start has nothing to take back. */
export function resolveBackspaces(frame: string): string {
  if (!frame.includes("\b")) return frame;
  const kept: string[] = [];
  for (const character of frame) {
    if (character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}
