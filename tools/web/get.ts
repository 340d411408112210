/** One GET request. `node:http` takes a lookup of ours, which `fetch` does not. */
import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";

/** An answer, its body decompressed. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** The longest body, in bytes, compressed or not. */
const MAX_BYTES = 5 * 1024 * 1024;

const STOPPED = "it was stopped";

const HEADERS = {
  "accept": "text/html,application/xhtml+xml,text/markdown;q=0.9,text/*;q=0.8,*/*;q=0.5",
  "accept-encoding": "gzip",
  "user-agent": "dsh-acp (coding agent; reads single pages for its user)",
};

/** Rejects where the server cannot be reached, sends too much, or the signal aborts. */
export async function get(
  url: URL,
  { signal, lookup }: { readonly signal: AbortSignal; readonly lookup: LookupFunction },
): Promise<Reply> {
  if (signal.aborted) throw new Error(STOPPED);
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const send = url.protocol === "https:" ? secureRequest : plainRequest;
  const request = send(url, { lookup, headers: HEADERS, agent: false }, (response) => {
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, value?.toString()]),
    );
    const body = Readable.toWeb(response) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
    readBody(body, headers["content-encoding"])
      .then((bytes) => resolve({ status: response.statusCode ?? 0, headers, body: bytes }), reject)
      // A body that is too long is not read to its end.
      .finally(() => request.destroy());
  });
  const abort = () => {
    reject(new Error(STOPPED));
    request.destroy();
  };
  signal.addEventListener("abort", abort, { once: true });
  request.on("error", reject);
  request.end();
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function readBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  encoding = "identity",
): Promise<Uint8Array> {
  const isGzip = /^(?:x-)?gzip$/i.test(encoding);
  if (!isGzip && !/^(?:identity)?$/i.test(encoding)) {
    throw new Error(
      `its body is compressed with "${encoding.slice(0, 40)}", which was not asked for`,
    );
  }
  const plain = isGzip ? body.pipeThrough(new DecompressionStream("gzip")) : body;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of plain) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
