/** Finds lines in files: with ripgrep, or without it where it is absent. */
import { dirname, join } from "node:path";
import { HEAD_BYTES } from "./_file_bytes.ts";
import { compileGlob } from "./_glob_pattern.ts";
import { compileLineMatcher } from "./_match_lines.ts";
import { cut } from "./_read_lines.ts";
import type { Ripgrep } from "./_ripgrep.ts";
import { toSlashes } from "./_search_root.ts";
import { VCS_FOLDERS, walkFiles } from "./_walk_files.ts";

/** What to search for, and where. */
export interface TextSearch {
  readonly pattern: string;
  /** A glob that file names must match. */
  readonly include?: string | undefined;
  readonly root: { readonly type: "folder" | "file"; readonly path: string };
  /** The real path of the working directory. */
  readonly cwd: string;
  readonly maxMatches: number;
  /** The most of one line that is shown: bytes or, without ripgrep, UTF-16 units. */
  readonly maxColumns: number;
  readonly signal: AbortSignal;
}

/** One matching line of a file. */
export interface TextMatch {
  /** Absolute. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** What a search found. An aborted one has found what it had until then. */
export type TextSearchResult =
  | {
    readonly type: "found";
    readonly matches: readonly TextMatch[];
    /** There are more than `maxMatches`. */
    readonly more: boolean;
    /** What was not searched, as a sentence, or empty. */
    readonly note: string;
  }
  | { readonly type: "failed"; readonly message: string };

/** Files beyond this size are passed over where ripgrep is absent, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Searches with ripgrep if it can be run, else without. */
export async function searchText(search: TextSearch, ripgrep: Ripgrep): Promise<TextSearchResult> {
  const { root, maxMatches } = search;
  const folder = root.type === "folder" ? root.path : dirname(root.path);
  const matches: TextMatch[] = [];
  let more = false;
  const outcome = await ripgrep.run({
    args: ripgrepArgs(search),
    cwd: folder,
    signal: search.signal,
    separator: "\n",
    onRecord: (record) => {
      const match = parseRecord(record, folder);
      if (match === undefined) return true;
      more = matches.length === maxMatches;
      if (!more) matches.push(match);
      return !more;
    },
  });
  if (outcome.type === "absent") return await searchByWalk(search);
  if (outcome.type === "done" && outcome.code > 1) {
    if (matches.length === 0) {
      return { type: "failed", message: `Cannot search as ripgrep reports: ${outcome.error}` };
    }
    return { type: "found", matches, more, note: "Some files could not be read" };
  }
  return { type: "found", matches, more, note: "" };
}

function ripgrepArgs({ pattern, include, root, maxColumns }: TextSearch): string[] {
  const target = root.type === "folder" ? "./" : `./${root.path.slice(dirname(root.path).length)}`;
  return [
    "--line-number",
    "--with-filename",
    "--no-heading",
    "--null",
    "--crlf",
    "--sort=path",
    `--max-columns=${maxColumns}`,
    "--max-columns-preview",
    "--hidden",
    "--no-require-git",
    ...(include === undefined ? [] : includeArgs(include)),
    ...VCS_FOLDERS.map((name) => `--glob=!${name}`),
    "--",
    pattern,
    target,
  ];
}

/** A type, unlike a glob, does not bring back what ignore files exclude; but it knows names only. */
function includeArgs(include: string): string[] {
  return include.includes("/")
    ? [`--glob=${include}`]
    : [`--type-add=included:${include}`, "--type=included"];
}

function parseRecord(record: string, folder: string): TextMatch | undefined {
  const match = /^([^\0]*)\0(\d+):([^]*)$/.exec(record);
  // Other lines say that a binary file was passed over.
  if (!match) return undefined;
  const [, path = "", line, text = ""] = match;
  return { path: join(folder, path), line: Number(line), text: text.replace(/\r$/, "") };
}

async function searchByWalk(search: TextSearch): Promise<TextSearchResult> {
  const { root, cwd, signal, maxMatches, maxColumns } = search;
  const matches: TextMatch[] = [];
  let skipped = 0;
  const failed = (message: string): TextSearchResult => ({ type: "failed", message });
  const included = search.include === undefined ? () => true : compileGlob(search.include);
  const files = root.type === "file"
    ? [root.path]
    : walkFiles({ root: root.path, ignoreFrom: cwd, includeIgnored: false, signal });
  try {
    const find = await compileLineMatcher(search.pattern);
    for await (const path of files) {
      if (!included(toSlashes(path.slice(root.type === "file" ? 0 : root.path.length)))) continue;
      const text = await readSearchable(path);
      if (text === "too-large") skipped++;
      if (text === undefined || text === "too-large") continue;
      const found = find(text.content, maxMatches + 1 - matches.length);
      if (found.type === "slow") {
        return failed(`Cannot search "${path}" as the pattern takes too long: simplify it`);
      }
      for (const { line, text: content } of found.matches) {
        const shown = content.length > maxColumns
          ? `${cut(content, maxColumns)} [... omitted end of long line]`
          : content;
        matches.push({ path, line, text: shown });
      }
      if (matches.length > maxMatches) break;
    }
  } catch (error) {
    if (error instanceof SyntaxError) return failed(error.message);
    // The caller tells an abort by the signal; everything else is an error of its own.
    if (!signal.aborted) throw error;
  }
  const note = skipped === 0
    ? ""
    : `Not searched: ${skipped} files of more than ${MAX_FILE_BYTES} bytes`;
  const more = matches.length > maxMatches;
  return { type: "found", matches: matches.slice(0, maxMatches), more, note };
}

async function readSearchable(
  path: string,
): Promise<{ readonly content: string } | "too-large" | undefined> {
  try {
    const info = await Deno.lstat(path);
    if (!info.isFile) return undefined;
    if (info.size > MAX_FILE_BYTES) return "too-large";
    const bytes = await Deno.readFile(path);
    const head = bytes.subarray(0, HEAD_BYTES);
    if (head[0] === 0xff && head[1] === 0xfe) return decode(bytes, "utf-16le");
    if (head[0] === 0xfe && head[1] === 0xff) return decode(bytes, "utf-16be");
    return head.includes(0) ? undefined : decode(bytes, "utf-8");
  } catch {
    return undefined; // Vanished or unreadable: a search shows what it can reach.
  }
}

function decode(bytes: Uint8Array<ArrayBuffer>, encoding: string): { readonly content: string } {
  return { content: new TextDecoder(encoding).decode(bytes) };
}
