/** Reads a file piece by piece, and tells by its first bytes what it is. */

/** What the beginning of a file says about the rest. */
export type FileForm =
  | { readonly type: "text"; readonly encoding: "utf-8" | "utf-16le" | "utf-16be" }
  | { readonly type: "image"; readonly mimeType: string }
  | { readonly type: "binary" };

/** How much of the beginning decides, in bytes: what git looks at. */
export const HEAD_BYTES: number = 8000;
const CHUNK_BYTES = 64 * 1024;

/** Judges a file by its first bytes. */
export function formOf(head: Uint8Array): FileForm {
  const hex = head.subarray(0, 12).reduce(
    (text, byte) => text + byte.toString(16).padStart(2, "0"),
    "",
  );
  if (hex.startsWith("89504e470d0a1a0a")) return { type: "image", mimeType: "image/png" };
  if (hex.startsWith("ffd8ff")) return { type: "image", mimeType: "image/jpeg" };
  if (/^474946383[79]61/.test(hex)) return { type: "image", mimeType: "image/gif" };
  if (/^52494646.{8}57454250/.test(hex)) return { type: "image", mimeType: "image/webp" };
  if (hex.startsWith("fffe") && !hex.startsWith("fffe0000")) {
    return { type: "text", encoding: "utf-16le" };
  }
  if (hex.startsWith("feff")) return { type: "text", encoding: "utf-16be" };
  if (head.includes(0)) return { type: "binary" };
  const control = head.filter((byte) => byte < 32 && !(byte >= 7 && byte <= 13) && byte !== 27);
  return control.length * 10 > head.length * 3
    ? { type: "binary" }
    : { type: "text", encoding: "utf-8" };
}

/**
 * Yields the rest of a file. A chunk is valid until the next one is asked for. Ends with the signal's reason when it aborts, even if a read hangs, as
 * reads of some files in `/proc` and of dead network mounts do.
 */
export async function* fileChunks(
  file: Deno.FsFile,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  while (true) {
    const chunk = await readChunk(file, buffer, signal);
    if (chunk === null) return;
    yield chunk;
  }
}

/** Reads until the buffer is full or the file ends. */
export async function readHead(
  file: Deno.FsFile,
  size: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const head = new Uint8Array(size);
  let length = 0;
  while (length < size) {
    const chunk = await readChunk(file, head.subarray(length), signal);
    if (chunk === null) break;
    length += chunk.length;
  }
  return head.subarray(0, length);
}

async function readChunk(
  file: Deno.FsFile,
  buffer: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | null> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const size = await Promise.race([file.read(buffer), aborted.promise]);
    return size === null ? null : buffer.subarray(0, size);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Puts what was read ahead in front of the rest, as UTF-8 without a byte order mark. */
export async function* toUtf8(
  head: Uint8Array<ArrayBuffer>,
  rest: AsyncIterable<Uint8Array<ArrayBuffer>>,
  encoding: "utf-8" | "utf-16le" | "utf-16be",
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (encoding === "utf-8") {
    const marked = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
    yield marked ? head.subarray(3) : head;
    yield* rest;
    return;
  }
  const decoder = new TextDecoder(encoding);
  const encoder = new TextEncoder();
  yield encoder.encode(decoder.decode(head, { stream: true }));
  for await (const chunk of rest) yield encoder.encode(decoder.decode(chunk, { stream: true }));
  yield encoder.encode(decoder.decode());
}
