/** How the calls that read and search look to a person. */
import type { GenericCallView, GenericResultView, ToolContent } from "./presentation.ts";
import type { ToolResult } from "./tool.ts";

/** What the presenters need of the read tool's arguments. */
export interface ReadRange {
  readonly file_path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** The view of a call: `Read p`, with the range where one is asked for. */
export function presentReadCall(args: ReadRange): GenericCallView {
  const { file_path: path, offset, limit } = args;
  const first = offset ?? 1;
  let range = "";
  if (limit !== undefined) range = ` (${first} - ${first + limit - 1})`;
  else if (offset !== undefined) range = ` (from line ${offset})`;
  return {
    type: "generic",
    title: `Read ${path}${range}`,
    kind: "read",
    locations: [{ path, line: first }],
  };
}

const CONTENT = /^<(?:content|entries)>\n([^]*)\n<\/(?:content|entries)>$/m;

/** The view of a result: the text itself, without the marks and line numbers meant for the model. */
export function presentReadResult(args: ReadRange, result: ToolResult): GenericResultView {
  const images = result.content.filter((part) => part.type === "image");
  if (images.length > 0) return { type: "generic", content: images };
  const text = result.content.find((part) => part.type === "text")?.text ?? "";
  const body = CONTENT.exec(text)?.[1];
  if (result.isError || body === undefined) return { type: "generic" };
  const isFile = text.includes("\n<type>file</type>\n");
  const shown = isFile ? body.replaceAll(/^\d+: /gm, "") : body;
  return { type: "generic", content: [fenced(shown, isFile ? languageOf(args.file_path) : "")] };
}

/** The view of what a search found: fenced, since paths and code are not Markdown. */
export function presentSearchResult(_args: unknown, result: ToolResult): GenericResultView {
  const text = result.content.find((part) => part.type === "text")?.text;
  if (result.isError || text === undefined) return { type: "generic" };
  return { type: "generic", content: [fenced(text)] };
}

/** Puts text into a Markdown fence that nothing inside it can close. */
export function fenced(text: string, language = ""): ToolContent {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return { type: "text", text: `${fence}${language}\n${text}\n${fence}` };
}

function languageOf(path: string): string {
  return /\.([a-zA-Z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase() ?? "";
}
