/** The glob tool: finds files by name. */
import { join } from "node:path";
import { z } from "zod";
import { followLinks } from "./_follow_links.ts";
import { compileGlob, type PathMatcher, splitBase } from "./_glob_pattern.ts";
import { pathSchema } from "./_path_rules.ts";
import { presentSearchResult } from "./_read_view.ts";
import type { Ripgrep } from "./_ripgrep.ts";
import {
  findSearchRoot,
  SEARCH_TIMEOUT,
  searchSignal,
  shortenPath,
  toSlashes,
} from "./_search_root.ts";
import { errorResult, textResult, type Tool, type ToolContext, type ToolResult } from "./tool.ts";
import { VCS_FOLDERS, walkFiles } from "./_walk_files.ts";

/** The arguments of the glob tool. */
export interface GlobArgs {
  readonly pattern: string;
  readonly path?: string | undefined;
}

const MAX_PATHS = 100;
/** How many matches the walk without ripgrep looks at to find the newest. */
const MAX_DATED = 20_000;

const parameters = z.object({
  pattern: z.string().min(1, "must not be empty").max(1000, "must have at most 1000 characters")
    .refine((pattern) => !pattern.includes("\0"), "must not contain a NUL character")
    .describe(
      'For example "src/**/*.ts" or "*.{json,md}". Without a slash it matches names at any depth',
    ),
  path: pathSchema("The folder to search. Default: the working directory").optional(),
});

const description =
  `Finds files by a glob pattern, newest first, at most ${MAX_PATHS}. Hidden files are included. ` +
  "Files that .gitignore excludes are listed only where nothing else matches.";

/** Makes the glob tool of a session. */
export function globTool(ripgrep: Ripgrep): Tool<GlobArgs> {
  return {
    name: "glob",
    description,
    parameters,
    concurrency: "parallel",
    execute: (args, context) => glob(args, context, ripgrep),
    presentCall: ({ pattern, path }) => ({
      type: "generic",
      title: path === undefined ? `Find ${pattern}` : `Find ${pattern} in ${path}`,
      kind: "search",
      ...(path !== undefined && { locations: [{ path }] }),
    }),
    presentResult: presentSearchResult,
  };
}

/** What a listing found, or why it could not. */
type Listing =
  | { readonly type: "found"; readonly paths: readonly string[]; readonly more: boolean }
  | { readonly type: "failed"; readonly message: string };

interface Search {
  readonly root: string;
  readonly cwd: string;
  readonly matches: PathMatcher;
  readonly signal: AbortSignal;
  readonly ripgrep: Ripgrep;
}

async function glob(args: GlobArgs, context: ToolContext, ripgrep: Ripgrep): Promise<ToolResult> {
  const { base, rest } = splitBase(args.pattern);
  const from = base === "" ? args.path : join(base.startsWith("..") ? args.path ?? "" : "", base);
  const root = await findSearchRoot(from, context.cwd);
  if (root.type === "failed") return errorResult(root.message);
  if (root.type === "file") {
    return errorResult(`Cannot search "${from}" as it must be a folder: it is a file`);
  }
  const cwd = (await followLinks(context.cwd)).path;
  using limit = searchSignal(context.signal);
  const { signal } = limit;
  const search = { root: root.path, cwd, matches: compileGlob(rest), signal, ripgrep };

  let note = "";
  let listing = await list(search, false);
  if (listing.type === "found" && listing.paths.length === 0 && !signal.aborted) {
    listing = await list(search, true);
    note = "\n(All of these are excluded by ignore files)";
  }
  if (limit.timedOut) {
    return errorResult(
      `Cannot finish the search as it must take less than ${SEARCH_TIMEOUT} ms: ` +
        "name a smaller folder",
    );
  }
  if (signal.aborted) return errorResult("Cannot finish the search as the call was cancelled");
  if (listing.type === "failed") return errorResult(listing.message);
  if (listing.paths.length === 0) return textResult("No files found");
  const more = listing.more ? `\n(Only the newest ${MAX_PATHS} are shown: narrow the pattern)` : "";
  const paths = listing.paths.map((path) => shortenPath(path, cwd));
  return textResult(paths.join("\n") + more + note);
}

async function list(search: Search, includeIgnored: boolean): Promise<Listing> {
  const paths: string[] = [];
  let more = false;
  const outcome = await search.ripgrep.run({
    args: [
      "--files",
      "--hidden",
      "--no-require-git",
      "--null",
      "--sortr=modified",
      ...(includeIgnored ? ["--no-ignore"] : []),
      ...VCS_FOLDERS.map((name) => `--glob=!${name}`),
      "--",
      "./",
    ],
    cwd: search.root,
    signal: search.signal,
    separator: "\0",
    onRecord: (record) => {
      const path = toSlashes(record);
      if (!search.matches(path)) return true;
      more = paths.length === MAX_PATHS;
      if (!more) paths.push(join(search.root, path));
      return !more;
    },
  });
  if (outcome.type === "absent") return await listByWalk(search, includeIgnored);
  // Code 1 says that no file was listed, code 2 that some folder could not be read.
  if (outcome.type === "done" && outcome.code > 1 && paths.length === 0) {
    return { type: "failed", message: `Cannot search "${search.root}": ${outcome.error}` };
  }
  return { type: "found", paths, more };
}

async function listByWalk(search: Search, includeIgnored: boolean): Promise<Listing> {
  const { root, cwd, matches, signal } = search;
  const dated: { path: string; time: number }[] = [];
  try {
    for await (const path of walkFiles({ root, ignoreFrom: cwd, includeIgnored, signal })) {
      if (!matches(toSlashes(path.slice(root.length)))) continue;
      dated.push({ path, time: await modifiedAt(path) });
      if (dated.length === MAX_DATED) break;
    }
  } catch (error) {
    // The caller tells an abort by the signal; everything else is an error of its own.
    if (!signal.aborted) throw error;
  }
  dated.sort((a, b) => b.time - a.time);
  const paths = dated.slice(0, MAX_PATHS).map(({ path }) => path);
  return { type: "found", paths, more: dated.length > MAX_PATHS };
}

async function modifiedAt(path: string): Promise<number> {
  try {
    return (await Deno.lstat(path)).mtime?.getTime() ?? 0;
  } catch {
    return 0; // It vanished while the search ran.
  }
}
