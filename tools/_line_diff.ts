/** Turns a change of a file into hunks that an editor can show and a log can hold. */
import type { JsonObject } from "./json.ts";
import { splitLines, toLf } from "./_line_endings.ts";
import type { DiffResultView, FileDiff, FileLocation } from "./presentation.ts";

/** One changed place of a file, with its context. */
export interface Hunk {
  readonly oldText: string;
  readonly newText: string;
  /** The first changed line in the new text, counted from 1. */
  readonly line: number;
}

/** What changed in a file. */
export interface LineDiff {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** How many hunks are left out, because together they exceed {@linkcode MAX_HUNK_CHARS}. */
  readonly omitted: number;
}

const CONTEXT_LINES = 3;
/** What hunks may hold together, in UTF-16 units: the log keeps them with the result. */
export const MAX_HUNK_CHARS: number = 256 * 1024;
/** Past this many edits (80 ms of work) a change is shown as one hunk instead. */
const MAX_EDITS = 1000;

/** Compares two texts line by line. How lines end does not count. */
export async function diffLines(oldText: string, newText: string): Promise<LineDiff> {
  const before = splitLines(toLf(oldText));
  const after = splitLines(toLf(newText));
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  if (start === before.length && start === after.length) {
    return { hunks: [], added: 0, removed: 0, omitted: 0 };
  }

  const from = Math.max(0, start - CONTEXT_LINES);
  const tail = Math.max(0, end - CONTEXT_LINES);
  const oldPart = before.slice(from, before.length - tail);
  const newPart = after.slice(from, after.length - tail);
  return await diffPart(oldPart, newPart, from) ?? bound(
    [{
      oldText: oldPart.join(""),
      newText: newPart.join(""),
      line: start + 1,
    }],
    after.length - start - end,
    before.length - start - end,
  );
}

async function diffPart(
  oldPart: readonly string[],
  newPart: readonly string[],
  from: number,
): Promise<LineDiff | undefined> {
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("", "", oldPart.join(""), newPart.join(""), "", "", {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  if (patch === undefined) return undefined;
  let added = 0;
  let removed = 0;
  const hunks = patch.hunks.map((hunk): Hunk => {
    let oldText = "";
    let newText = "";
    let changedAt: number | undefined;
    let line = from + hunk.newStart;
    for (const [index, entry] of hunk.lines.entries()) {
      const mark = entry[0];
      if (mark === "\\") continue;
      const text = entry.slice(1) + (hunk.lines[index + 1]?.startsWith("\\") ? "" : "\n");
      if (mark !== " ") changedAt ??= line;
      if (mark !== "+") oldText += text;
      if (mark !== "-") {
        newText += text;
        line++;
      }
      if (mark === "+") added++;
      if (mark === "-") removed++;
    }
    return { oldText, newText, line: Math.max(1, changedAt ?? line) };
  });
  return bound(hunks, added, removed);
}

function bound(hunks: readonly Hunk[], added: number, removed: number): LineDiff {
  let room = MAX_HUNK_CHARS;
  const kept = hunks.filter((hunk) => {
    const size = hunk.oldText.length + hunk.newText.length;
    if (size > room) return false;
    room -= size;
    return true;
  });
  return { hunks: kept, added, removed, omitted: hunks.length - kept.length };
}

/** Packs a change for the result's `meta`. `path` is as the model gave it. */
export function toDiffMeta(path: string, diff: LineDiff): JsonObject {
  const { hunks, added, removed, omitted } = diff;
  return { diffs: hunks.map((hunk) => ({ path, ...hunk })), added, removed, omitted };
}

/**
 * The view of a change that was packed by {@linkcode toDiffMeta}, or undefined where there is
 * nothing to show: the result's own text then says what happened.
 */
export function presentDiffMeta(meta: JsonObject | undefined): DiffResultView | undefined {
  const diffs: FileDiff[] = [];
  const locations: FileLocation[] = [];
  for (const entry of Array.isArray(meta?.diffs) ? meta.diffs : []) {
    const { path, oldText, newText, line } = entry as JsonObject;
    if (typeof path !== "string" || typeof newText !== "string") continue;
    diffs.push({ path, oldText: typeof oldText === "string" ? oldText : null, newText });
    locations.push({ path, ...(typeof line === "number" && { line }) });
  }
  return diffs.length === 0 ? undefined : { type: "diff", diffs, locations };
}

/** Says how much changed, for the model. */
export function describeDiff(diff: LineDiff): string {
  return diff.added + diff.removed === 0
    ? "no line changed"
    : `${plural(diff.added, "line")} added, ${diff.removed} removed`;
}

/** Writes a number with its noun. */
export function plural(count: number, noun: string, many: string = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}
