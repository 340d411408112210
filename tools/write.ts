/** The write tool: creates a file, or replaces the whole content of one the session has read. */
import { z } from "zod";
import { writeAtomically } from "./_atomic_write.ts";
import { authorizeWrite } from "./_authorize_write.ts";
import { checkWrite } from "./check_write.ts";
import { describeKind } from "./_file_error.ts";
import { type FileObservations, fileVersion } from "./file_observations.ts";
import { namesFolder, type RealPlace, toAbsolute } from "./_follow_links.ts";
import {
  describeDiff,
  diffLines,
  type LineDiff,
  plural,
  presentDiffMeta,
  toDiffMeta,
} from "./_line_diff.ts";
import { lineEndingOf, splitLines, toCrlf } from "./_line_endings.ts";
import { pathSchema, staleFile, unknownFile } from "./_path_rules.ts";
import type { DiffCallView, ResultView } from "./presentation.ts";
import { encodeText, loadTextFile, type TextFile } from "./_text_file.ts";
import { errorResult, textResult, type Tool, type ToolContext, type ToolResult } from "./tool.ts";

/** The arguments of the write tool. */
export interface WriteArgs {
  readonly file_path: string;
  readonly content: string;
}

const parameters = z.object({
  file_path: pathSchema("The file to write: absolute, or relative to the working directory"),
  content: z.string().describe("The whole new content of the file"),
});

const description =
  "Creates a file and the folders it needs, or replaces the whole content of a file. An existing " +
  "file must have been read in this session and be unchanged since. To change a part, use edit.";

/** Makes the write tool of a session. */
export function writeTool(observations: FileObservations): Tool<WriteArgs> {
  return {
    name: "write",
    description,
    parameters,
    concurrency: "exclusive",
    authorize: ({ file_path: shown }, context) =>
      authorizeWrite({
        path: toAbsolute(shown, context.cwd),
        problem: (place) => describeProblem(shown, place, observations),
      }, context),
    execute: (args, context) => write(args, context, observations),
    presentCall: presentWhole,
    presentResult,
  };
}

function presentWhole(args: WriteArgs): DiffCallView {
  const path = args.file_path;
  return {
    type: "diff",
    title: `Write ${path}`,
    diffs: [{ path, oldText: null, newText: args.content }],
    locations: [{ path }],
  };
}

function presentResult(args: WriteArgs, result: ToolResult): ResultView {
  if (result.isError) return { type: "generic" };
  // The log holds the content once, in the arguments.
  if (result.meta?.created === true) {
    const { diffs, locations = [] } = presentWhole(args);
    return { type: "diff", diffs, locations };
  }
  return presentDiffMeta(result.meta) ?? { type: "generic" };
}

async function write(
  args: WriteArgs,
  context: ToolContext,
  observations: FileObservations,
): Promise<ToolResult> {
  const shown = args.file_path;
  const path = toAbsolute(shown, context.cwd);
  const check = await checkWrite(path, context.policy);
  if (check.type !== "allowed") return errorResult(check.message);
  const problem = describeProblem(shown, check, observations);
  if (problem !== undefined) return errorResult(problem);

  let old: TextFile | undefined;
  let version: string | null = null;
  if (check.info !== null) {
    version = fileVersion(check.info);
    const loaded = await loadTextFile(check.path, shown);
    if (loaded.type === "failed") return errorResult(loaded.message);
    if (loaded.version !== version) return errorResult(staleFile("write", shown));
    if (loaded.type === "text") old = loaded;
  }

  const { content, note } = keepForm(args.content, old);
  const written = await writeAtomically({
    path,
    data: encodeText(content, old?.byteOrderMark === true && !content.startsWith("\uFEFF")),
    replaces: version,
    policy: context.policy,
    signal: context.signal,
  });
  if (written.type === "stale") return errorResult(staleFile("write", shown));
  if (written.type === "failed") return errorResult(written.message);
  observations.record(written.path, written.version);

  if (version === null) {
    const lines = plural(splitLines(content).length, "line");
    return textResult(`Created file ${shown} (${lines})`, { created: true });
  }
  if (old === undefined) {
    return textResult(`Updated file ${shown} (it was not UTF-8 text and is now)`);
  }
  const diff: LineDiff = await diffLines(old.text, content);
  return textResult(
    `Updated file ${shown} (${describeDiff(diff)}${note})`,
    toDiffMeta(shown, diff),
  );
}

/** Why the file cannot be written whatever the policy says. */
function describeProblem(
  shown: string,
  { path, info }: RealPlace,
  observations: FileObservations,
): string | undefined {
  if (namesFolder(shown) || (info !== null && !info.isFile)) {
    const kind = info === null ? "a folder" : describeKind(info);
    return `Cannot write "${shown}" as it must name a regular file: it is ${kind}`;
  }
  return info === null ? undefined : unknownFile("write", shown, { path, info }, observations);
}

/** Models write `\n` and cannot see that a file has `\r\n`: rewriting it must not touch every line. */
function keepForm(content: string, old: TextFile | undefined): { content: string; note: string } {
  if (old === undefined || lineEndingOf(old.text) !== "crlf" || content.includes("\r")) {
    return { content, note: "" };
  }
  return { content: toCrlf(content), note: ", CRLF line endings kept" };
}
