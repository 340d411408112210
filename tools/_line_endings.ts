/** Line endings: what is shown and matched has `\n` only; what is written keeps the file's own. */

/** Replaces every `\r\n` by `\n`. */
export function toLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Replaces every line end by `\r\n`. */
export function toCrlf(text: string): string {
  return toLf(text).replaceAll("\n", "\r\n");
}

/** How the lines of a text end. */
export type LineEnding = "lf" | "crlf" | "mixed" | "none";

/** Tells how the lines of a text end. */
export function lineEndingOf(text: string): LineEnding {
  const all = count(text, "\n");
  const crlf = count(text, "\r\n");
  if (all === 0) return "none";
  if (crlf === 0) return "lf";
  return crlf === all ? "crlf" : "mixed";
}

/** Counts occurrences that do not overlap. */
export function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found++;
  return found;
}

/** Splits into lines that keep their `\n`. A last line without one is a line as well. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
