/** What a diff card changes, line by line. */
import { structuredPatch } from "diff";

/** A line of a change, and whether it is new, gone or around it. */
export interface DiffLine {
  readonly mark: "+" | "-" | " ";
  readonly text: string;
}

/** Past this many edits a change is shown as all old lines, then all new ones. */
const MAX_EDITS = 1_000;

/** The changed lines of a text with three lines around each, in hunks. */
export function diffHunks(oldText: string | null | undefined, newText: string): DiffLine[][] {
  const patch = structuredPatch("", "", oldText ?? "", newText, "", "", {
    context: 3,
    maxEditLength: MAX_EDITS,
  });
  if (!patch) return [[...allLines(oldText ?? "", "-"), ...allLines(newText, "+")]];
  return patch.hunks.map(({ lines }) =>
    // Whether the last line ends in a newline is left out.
    lines.filter((line) => !line.startsWith("\\")).map((line) => ({
      mark: line[0] as DiffLine["mark"],
      text: line.slice(1).replace(/\r$/, ""),
    }))
  );
}

function allLines(text: string, mark: "+" | "-"): DiffLine[] {
  return text === ""
    ? []
    : text.replace(/\r?\n$/, "").split(/\r?\n/).map((line) => ({ mark, text: line }));
}
