/** The grep tool: finds lines by a regular expression. */
import { z } from "zod";
import { followLinks } from "./_follow_links.ts";
import { type MaskCheck, maskCheck, maskedMessage } from "./_masked_paths.ts";
import { plural } from "./_line_diff.ts";
import { pathSchema } from "./_path_rules.ts";
import { presentSearchResult } from "./_read_view.ts";
import type { Ripgrep } from "./_ripgrep.ts";
import { findSearchRoot, SEARCH_TIMEOUT, searchSignal, shortenPath } from "./_search_root.ts";
import { searchText, type TextMatch } from "./_search_text.ts";
import { errorResult, textResult, type Tool, type ToolContext, type ToolResult } from "./tool.ts";

/** The arguments of the grep tool. */
export interface GrepArgs {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly include?: string | undefined;
}

const MAX_MATCHES = 250;
const MAX_COLUMNS = 2000;
/** What all lines may have together, in UTF-16 units: 250 long ones would fill a context window. */
const MAX_CHARS = 100_000;

const parameters = z.object({
  pattern: z.string().min(1, "must not be empty").max(10_000, "must have at most 10000 characters")
    .refine((pattern) => !/[\0\n]/.test(pattern), "must not contain a line break or NUL character")
    .describe('A regular expression that one line must match, for example "(?i)todo|fixme"'),
  path: pathSchema("The folder or file to search. Default: the working directory").optional(),
  include: z.string().min(1, "must not be empty").max(1000, "must have at most 1000 characters")
    .refine((glob) => !/[\0\n]/.test(glob), "must not contain a line break or NUL character")
    .optional().describe('A glob that file names must match, for example "*.{ts,tsx}"'),
});

const description =
  `Finds lines in files by a regular expression, at most ${MAX_MATCHES}, in order of path. Hidden ` +
  "files are searched; binary files and those that .gitignore excludes are not.";

/** Makes the grep tool of a session. */
export function grepTool(ripgrep: Ripgrep): Tool<GrepArgs> {
  return {
    name: "grep",
    description,
    parameters,
    concurrency: "parallel",
    execute: (args, context) => grep(args, context, ripgrep),
    presentCall: ({ pattern, path, include }) => ({
      type: "generic",
      title: `Search ${pattern}${path === undefined ? "" : ` in ${path}`}` +
        (include === undefined ? "" : ` (${include})`),
      kind: "search",
      ...(path !== undefined && { locations: [{ path }] }),
    }),
    presentResult: presentSearchResult,
  };
}

async function grep(args: GrepArgs, context: ToolContext, ripgrep: Ripgrep): Promise<ToolResult> {
  const root = await findSearchRoot(args.path, context.cwd);
  if (root.type === "failed") return errorResult(root.message);
  const isMasked = await maskCheck(context.policy);
  const rootPlace = await followLinks(root.path);
  if (isMasked(rootPlace)) return errorResult(maskedMessage("search", args.path ?? root.path));
  const cwd = (await followLinks(context.cwd)).path;
  using limit = searchSignal(context.signal);
  const found = await searchText({
    pattern: args.pattern,
    include: args.include,
    root,
    cwd,
    maxMatches: MAX_MATCHES,
    maxColumns: MAX_COLUMNS,
    signal: limit.signal,
  }, ripgrep);
  if (found.type === "failed") return errorResult(found.message);
  if (context.signal.aborted) return errorResult("Cannot finish the search as it was cancelled");
  if (limit.timedOut && found.matches.length === 0) {
    return errorResult(
      `Cannot finish the search as it must take less than ${SEARCH_TIMEOUT} ms: ` +
        "name a smaller folder",
    );
  }

  const notes: string[] = [];
  const readable = await readableMatches(found.matches, isMasked);
  const shown = bound(readable);
  if (limit.timedOut) notes.push(`Stopped after ${SEARCH_TIMEOUT} ms: name a smaller folder`);
  else if (found.more || shown.length < readable.length) {
    notes.push(`Only the first ${shown.length} matches are shown: narrow the pattern or the path`);
  }
  if (found.note) notes.push(found.note);
  const end = notes.map((note) => `\n(${note})`).join("");
  if (shown.length === 0) return textResult(`No matches found${end}`);
  return textResult(`${plural(shown.length, "match", "matches")}\n${render(shown, cwd)}${end}`);
}

/** Without those in files that are kept from the tools. */
async function readableMatches(
  matches: readonly TextMatch[],
  isMasked: MaskCheck,
): Promise<readonly TextMatch[]> {
  const masked = new Set<string>();
  for (const path of new Set(matches.map((match) => match.path))) {
    if (isMasked(await followLinks(path))) masked.add(path);
  }
  return masked.size === 0 ? matches : matches.filter(({ path }) => !masked.has(path));
}

function bound(matches: readonly TextMatch[]): readonly TextMatch[] {
  let room = MAX_CHARS;
  const end = matches.findIndex(({ text }) => (room -= text.length) < 0);
  return end === -1 ? matches : matches.slice(0, Math.max(1, end));
}

function render(matches: readonly TextMatch[], cwd: string): string {
  let path = "";
  let text = "";
  for (const match of matches) {
    if (match.path !== path) text += `\n${shortenPath(match.path, cwd)}\n`;
    path = match.path;
    text += `${match.line}: ${match.text}\n`;
  }
  return text.trimEnd();
}
