/** The read tool: shows a window of a text file, an image, or the entries of a folder. */
import { join } from "node:path";
import { z } from "zod";
import { fileChunks, formOf, HEAD_BYTES, readHead, toUtf8 } from "./_file_bytes.ts";
import { maskCheck, maskedMessage } from "./_masked_paths.ts";
import { describeFileError, describeKind } from "./_file_error.ts";
import { type FileObservations, fileVersion } from "./file_observations.ts";
import { followLinks, toAbsolute } from "./_follow_links.ts";
import { missingFile, pathSchema } from "./_path_rules.ts";
import { type LinesRead, readLines } from "./_read_lines.ts";
import { presentReadCall, presentReadResult } from "./_read_view.ts";
import { errorResult, textResult, type Tool, type ToolContext, type ToolResult } from "./tool.ts";

/** The arguments of the read tool. */
export interface ReadArgs {
  readonly file_path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

const DEFAULT_LINES = 2000;
const MAX_COLUMNS = 2000;
const MAX_BYTES = 50 * 1024;
/** As base64 this is the 5 MB that providers accept for one image. */
const MAX_IMAGE_BYTES = 3_750_000;
const MAX_ENTRIES = 100_000;
/** How long one call may read, in milliseconds: some files in `/proc` never answer. */
const TIMEOUT = 30_000;

const parameters = z.object({
  file_path: pathSchema("The file or folder: absolute, or relative to the working directory"),
  offset: z.int().min(1).optional().describe("The first line to show, counted from 1. Default: 1"),
  limit: z.int().min(1).optional().describe(`How many lines to show. Default: ${DEFAULT_LINES}`),
});

const description =
  `Reads a text file, an image (PNG, JPEG, GIF, WebP) or the entries of a folder. Lines are shown ` +
  `as "N: text"; the number is not part of the file. At most ${DEFAULT_LINES} lines and ` +
  `${MAX_BYTES} bytes come at once, and ${MAX_COLUMNS} characters of a line: go on with offset.`;

/** Makes the read tool of a session. */
export function readTool(observations: FileObservations): Tool<ReadArgs> {
  return {
    name: "read",
    description,
    parameters,
    concurrency: "parallel",
    execute: (args, context) => read(args, context, observations),
    presentCall: presentReadCall,
    presentResult: presentReadResult,
  };
}

async function read(
  args: ReadArgs,
  context: ToolContext,
  observations: FileObservations,
): Promise<ToolResult> {
  const shown = args.file_path;
  const absolute = toAbsolute(shown, context.cwd);
  try {
    const place = await followLinks(absolute);
    const { path, info } = place;
    if ((await maskCheck(context.policy))(place)) return errorResult(maskedMessage("read", shown));
    if (info === null) return errorResult(await missingFile("read", shown, absolute));
    if (info.isDirectory) return await readFolder(path, absolute, args);
    // Opening a named pipe or a device could wait forever.
    if (!info.isFile) {
      const kind = describeKind(info);
      return errorResult(
        `Cannot read "${shown}" as it must be a regular file or a folder: it is ${kind}`,
      );
    }
    return await readFile({ path, absolute, args, signal: context.signal, observations });
  } catch (error) {
    if (context.signal.aborted) {
      return errorResult(`Cannot read "${shown}" as the call was cancelled`);
    }
    if (error instanceof DOMException && error.name === "TimeoutError") {
      return errorResult(`Cannot read "${shown}" as it must take less than ${TIMEOUT} ms`);
    }
    return errorResult(describeFileError("read", shown, error));
  }
}

interface FileRead {
  /** The real path. */
  readonly path: string;
  /** The path as the model sees it. */
  readonly absolute: string;
  readonly args: ReadArgs;
  readonly signal: AbortSignal;
  readonly observations: FileObservations;
}

async function readFile(call: FileRead): Promise<ToolResult> {
  const { path, absolute, args, observations } = call;
  const shown = args.file_path;
  using timeout = deadline(TIMEOUT);
  const signal = AbortSignal.any([call.signal, timeout.signal]);
  using file = await Deno.open(path);
  const info = await file.stat();
  const head = await readHead(file, HEAD_BYTES, signal);
  const form = formOf(head);
  if (form.type === "image") {
    if (info.size > MAX_IMAGE_BYTES) {
      return errorResult(
        `Cannot read "${shown}" as an image may have ${MAX_IMAGE_BYTES} bytes: ` +
          `it has ${info.size}`,
      );
    }
    return await readImage(absolute, file, head, form.mimeType, signal);
  }
  if (form.type === "binary") {
    return errorResult(
      `Cannot read "${shown}" as it must be text or an image: it is a binary file of ` +
        `${info.size} bytes`,
    );
  }

  const offset = args.offset ?? 1;
  const read = await readLines(toUtf8(head, fileChunks(file, signal), form.encoding), {
    offset,
    maxLines: args.limit ?? DEFAULT_LINES,
    maxBytes: MAX_BYTES,
    maxColumns: MAX_COLUMNS,
  });
  if (read.lines.length === 0 && offset > 1) {
    return errorResult(
      `Cannot read "${shown}" from line ${offset} as it must be a line of the file: ` +
        `the file has ${read.seen}`,
    );
  }
  observations.record(path, fileVersion(info));
  return textResult(renderFile(absolute, offset, read, form.encoding));
}

function renderFile(path: string, offset: number, read: LinesRead, encoding: string): string {
  const body = read.lines.map((line, index) => `${offset + index}: ${line}`).join("\n");
  const notes = [footer(offset, read)];
  if (encoding !== "utf-8") {
    notes.push(`(Decoded from ${encoding}. edit cannot change it, write would make it UTF-8)`);
  }
  if (read.invalid) {
    notes.push("(Bytes that are not UTF-8 show as U+FFFD. edit cannot change such a file)");
  }
  return `<path>${path}</path>\n<type>file</type>\n<content>\n${body}\n</content>\n${
    notes.join("\n")
  }`;
}

function footer(offset: number, read: LinesRead): string {
  const last = offset + read.lines.length - 1;
  const next = `Showing lines ${offset}-${last}. Use offset=${last + 1} to go on`;
  switch (read.stoppedBy) {
    case "end":
      return read.seen === 0 ? "(Empty file)" : `(End of file - total ${read.seen} lines)`;
    case "bytes":
      return `(Output capped at ${MAX_BYTES} bytes. ${next})`;
    case "lines":
      return `(${next})`;
    default: {
      const never: never = read.stoppedBy;
      return never;
    }
  }
}

async function readImage(
  path: string,
  file: Deno.FsFile,
  head: Uint8Array<ArrayBuffer>,
  mimeType: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const rest = await readHead(file, MAX_IMAGE_BYTES - head.length, signal);
  const bytes = new Uint8Array(head.length + rest.length);
  bytes.set(head);
  bytes.set(rest, head.length);
  return {
    isError: false,
    content: [
      { type: "text", text: `<path>${path}</path>\n<type>image</type>\n${bytes.length} bytes` },
      { type: "image", data: bytes.toBase64(), mimeType },
    ],
  };
}

async function readFolder(
  path: string,
  absolute: string,
  args: ReadArgs,
): Promise<ToolResult> {
  const entries: Deno.DirEntry[] = [];
  for await (const entry of Deno.readDir(path)) {
    if (entries.push(entry) === MAX_ENTRIES) break;
  }
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  const first = (args.offset ?? 1) - 1;
  const window = entries.slice(first, first + (args.limit ?? DEFAULT_LINES));
  const shown: string[] = [];
  for (const { name, isDirectory, isSymlink } of window) {
    if (isSymlink) shown.push(`${name} -> ${await readLink(join(path, name))}`);
    else shown.push(isDirectory ? `${name}/` : name);
  }
  const next = first + window.length;
  const note = next < entries.length
    ? `(Showing entries ${first + 1}-${next} of ${entries.length}. Use offset=${next + 1} to go on)`
    : `(Total ${entries.length} entries)`;
  return textResult(
    `<path>${absolute}</path>\n<type>directory</type>\n<entries>\n${
      shown.join("\n")
    }\n</entries>\n${note}`,
  );
}

async function readLink(path: string): Promise<string> {
  try {
    return await Deno.readLink(path);
  } catch {
    return "?"; // It vanished, or may not be read: its name is still worth listing.
  }
}

/** An abort signal with a timer that ends with the scope. */
function deadline(milliseconds: number): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DOMException("The time is up", "TimeoutError")),
    milliseconds,
  );
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
