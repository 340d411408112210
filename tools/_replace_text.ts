/** Finds and replaces text in a file's content, whatever its line endings are. */
import { count, lineEndingOf, splitLines, toCrlf, toLf } from "./_line_endings.ts";

/** How a replacement ended. */
export type Replacement =
  | { readonly type: "replaced"; readonly text: string; readonly count: number }
  /** `hint` says what comes near, or is empty. */
  | { readonly type: "not-found"; readonly hint: string }
  /** Lines, counted from 1, on which the occurrences begin. */
  | { readonly type: "ambiguous"; readonly lines: readonly number[] };

/**
 * Replaces the one occurrence of `oldText`, or all of them. Matching ignores whether lines end in
 * `\n` or `\r\n`. What is not replaced stays as it is, byte for byte; replaced text takes the
 * line ending the file uses most.
 */
export function replaceText(
  text: string,
  oldText: string,
  options: { readonly newText: string; readonly all: boolean },
): Replacement {
  const haystack = toLf(text);
  const needle = toLf(oldText);
  const starts: number[] = [];
  for (let at = haystack.indexOf(needle); at !== -1; at = haystack.indexOf(needle, at)) {
    starts.push(at);
    at += needle.length;
  }
  if (starts.length === 0) return { type: "not-found", hint: findNear(haystack, needle) };
  if (starts.length > 1 && !options.all) {
    return { type: "ambiguous", lines: starts.map((start) => lineAt(haystack, start)) };
  }

  const original = originalOffsets(text);
  const newText = usesCrlf(text) ? toCrlf(options.newText) : toLf(options.newText);
  let result = "";
  let end = 0;
  for (const start of starts) {
    result += text.slice(end, original(start)) + newText;
    end = original(start + needle.length);
  }
  return { type: "replaced", text: result + text.slice(end), count: starts.length };
}

function usesCrlf(text: string): boolean {
  const ending = lineEndingOf(text);
  return ending === "crlf" || (ending === "mixed" && count(text, "\r\n") * 2 > count(text, "\n"));
}

/** Maps ascending offsets in the text with `\n` only to offsets in the text as it is. */
function originalOffsets(text: string): (offset: number) => number {
  let removed = 0;
  let next = text.indexOf("\r\n");
  return (offset) => {
    while (next !== -1 && next - removed < offset) {
      removed++;
      next = text.indexOf("\r\n", next + 2);
    }
    return offset + removed;
  };
}

function lineAt(text: string, offset: number): number {
  return count(text.slice(0, offset), "\n") + 1;
}

/** Looks for the usual mistakes: line numbers left in, other white space, a wrong later line. */
function findNear(haystack: string, needle: string): string {
  const bare = needle.replaceAll(/^\d+: ?/gm, "");
  if (bare !== needle && bare.trim() !== "" && haystack.includes(bare)) {
    return "It matches without the line numbers, which are not part of the file";
  }
  const lines = splitLines(haystack).map((line) => line.trim());
  const wanted = splitLines(needle).map((line) => line.trim());
  while (wanted[0] === "") wanted.shift();
  while (wanted.at(-1) === "") wanted.pop();
  const first = wanted[0];
  if (first === undefined) return "";

  let best = { line: 0, matched: 0 };
  for (let at = lines.indexOf(first); at !== -1; at = lines.indexOf(first, at + 1)) {
    let matched = 1;
    while (matched < wanted.length && lines[at + matched] === wanted[matched]) matched++;
    if (matched > best.matched) best = { line: at + 1, matched };
    if (matched === wanted.length) break;
  }
  if (best.matched === 0) return "";
  if (best.matched === wanted.length) {
    return `Line ${best.line} and what follows differ from it only in white space`;
  }
  return `Its first ${best.matched === 1 ? "line is" : `${best.matched} lines are`} at line ` +
    `${best.line}, but line ${best.line + best.matched} differs`;
}
