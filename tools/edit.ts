/** The edit tool: replaces text in a file the session has read. */
import { z } from "zod";
import { writeAtomically } from "./_atomic_write.ts";
import { authorizeWrite } from "./_authorize_write.ts";
import { checkWrite } from "./check_write.ts";
import { describeKind } from "./_file_error.ts";
import type { FileObservations } from "./file_observations.ts";
import { namesFolder, type RealPlace, toAbsolute } from "./_follow_links.ts";
import { describeDiff, diffLines, plural, presentDiffMeta, toDiffMeta } from "./_line_diff.ts";
import { missingFile, pathSchema, staleFile, unknownFile } from "./_path_rules.ts";
import { replaceText } from "./_replace_text.ts";
import { encodeText, loadTextFile } from "./_text_file.ts";
import { errorResult, textResult, type Tool, type ToolContext, type ToolResult } from "./tool.ts";

/** The arguments of the edit tool. */
export interface EditArgs {
  readonly file_path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

const parameters = z.object({
  file_path: pathSchema("The file to change: absolute, or relative to the working directory"),
  old_string: z.string().min(1, "must not be empty; use the write tool to create a file")
    .describe(
      "The exact text to replace, indentation included, without the line numbers that read shows. " +
        "It must occur exactly once unless replace_all is set: include enough lines around it",
    ),
  new_string: z.string().describe("The text to put in its place"),
  replace_all: z.boolean().optional().describe("Replace every occurrence. Default: false"),
}).refine((args) => args.old_string !== args.new_string, {
  path: ["new_string"],
  message: "must differ from old_string",
});

const description =
  "Replaces text in a file. The file must have been read in this session and be unchanged since. " +
  "Line endings and encoding marks of the file are kept.";

/** Makes the edit tool of a session. */
export function editTool(observations: FileObservations): Tool<EditArgs> {
  return {
    name: "edit",
    description,
    parameters,
    concurrency: "exclusive",
    authorize: ({ file_path: shown }, context) =>
      authorizeWrite({
        path: toAbsolute(shown, context.cwd),
        problem: (place) => describeProblem(shown, place, observations),
      }, context),
    execute: (args, context) => edit(args, context, observations),
    presentCall: (args) => ({
      type: "diff",
      title: `Edit ${args.file_path}`,
      diffs: [{ path: args.file_path, oldText: args.old_string, newText: args.new_string }],
      locations: [{ path: args.file_path }],
    }),
    presentResult: (_args, result) =>
      (result.isError ? undefined : presentDiffMeta(result.meta)) ?? { type: "generic" },
  };
}

async function edit(
  args: EditArgs,
  context: ToolContext,
  observations: FileObservations,
): Promise<ToolResult> {
  const shown = args.file_path;
  const path = toAbsolute(shown, context.cwd);
  const check = await checkWrite(path, context.policy);
  if (check.type !== "allowed") return errorResult(check.message);
  const problem = await describeProblem(shown, check, observations);
  if (problem !== undefined) return errorResult(problem);

  const file = await loadTextFile(check.path, shown);
  if (file.type === "failed") return errorResult(file.message);
  if (observations.compare(check.path, file.version) !== "fresh") {
    return errorResult(staleFile("edit", shown));
  }
  if (file.type === "not-text") return errorResult(`Cannot edit "${shown}" as ${file.rule}`);

  const options = { newText: args.new_string, all: args.replace_all ?? false };
  const replaced = replaceText(file.text, args.old_string, options);
  if (replaced.type === "not-found") {
    const hint = replaced.hint && `. ${replaced.hint}`;
    return errorResult(`Cannot edit "${shown}" as old_string does not occur in it${hint}`);
  }
  if (replaced.type === "ambiguous") {
    const { lines } = replaced;
    const listed = lines.slice(0, 20).join(", ") + (lines.length > 20 ? ", …" : "");
    return errorResult(
      `Cannot edit "${shown}" as old_string must occur exactly once: it occurs ${lines.length} ` +
        `times, at lines ${listed}. Include more of the text around it, or set replace_all`,
    );
  }

  const written = await writeAtomically({
    path,
    data: encodeText(replaced.text, file.byteOrderMark),
    replaces: file.version,
    policy: context.policy,
    signal: context.signal,
  });
  if (written.type === "stale") return errorResult(staleFile("edit", shown));
  if (written.type === "failed") return errorResult(written.message);
  observations.record(written.path, written.version);
  const diff = await diffLines(file.text, replaced.text);
  const times = replaced.count === 1 ? "" : `${plural(replaced.count, "replacement")}, `;
  return textResult(`Edited ${shown} (${times}${describeDiff(diff)})`, toDiffMeta(shown, diff));
}

/** Why the file cannot be changed whatever the policy says. */
async function describeProblem(
  shown: string,
  { path, info }: RealPlace,
  observations: FileObservations,
): Promise<string | undefined> {
  if (info === null || (info.isFile && namesFolder(shown))) {
    return await missingFile("edit", shown, path);
  }
  if (!info.isFile) {
    return `Cannot edit "${shown}" as it must be a regular file: it is ${describeKind(info)}`;
  }
  return unknownFile("edit", shown, { path, info }, observations);
}
