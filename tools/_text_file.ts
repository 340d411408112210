/** Loads a whole text file into memory, or says why it is not one. */
import { describeFileError, describeKind } from "./_file_error.ts";
import { fileVersion } from "./file_observations.ts";

/** The largest file that is edited in memory, in bytes. Larger ones are work for a command. */
const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** A UTF-8 file as text. */
export interface TextFile {
  readonly type: "text";
  /** Without the byte order mark; line endings as they are. */
  readonly text: string;
  readonly byteOrderMark: boolean;
  readonly version: string;
}

/** A file that is text, one that is not, or a failure. */
export type LoadedFile =
  | TextFile
  | { readonly type: "not-text"; readonly version: string; readonly rule: string }
  | { readonly type: "failed"; readonly message: string };

/** Reads a regular file. `path` is the real path; `shown` is what messages call it. */
export async function loadTextFile(path: string, shown: string): Promise<LoadedFile> {
  try {
    const kind = await Deno.lstat(path);
    if (!kind.isFile) {
      const message = `Cannot change "${shown}" as it must be a regular file: it is ${
        describeKind(kind)
      }`;
      return { type: "failed", message };
    }
    using file = await Deno.open(path);
    const info = await file.stat();
    const version = fileVersion(info);
    if (info.size > MAX_TEXT_BYTES) {
      const rule = `files of at most ${MAX_TEXT_BYTES} bytes are changed: it has ${info.size}`;
      return { type: "not-text", version, rule };
    }
    const bytes = new Uint8Array(info.size);
    let size = 0;
    while (size < bytes.length) {
      const read = await file.read(bytes.subarray(size));
      if (read === null) break;
      size += read;
    }
    return decode(bytes.subarray(0, size), version);
  } catch (error) {
    return { type: "failed", message: describeFileError("read", shown, error) };
  }
}

function decode(bytes: Uint8Array, version: string): LoadedFile {
  const byteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return { type: "text", text, byteOrderMark, version };
  } catch {
    // What does not decode is not text, and the answer below says so.
  }
  return { type: "not-text", version, rule: "it is not UTF-8 text" };
}

/** Encodes text, with the byte order mark if the file had one. */
export function encodeText(text: string, byteOrderMark: boolean): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(byteOrderMark ? `\uFEFF${text}` : text);
}
