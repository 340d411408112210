/** The longest message that is read from a server at a URL, in bytes. */
const LONGEST_MESSAGE = 32 * 1024 * 1024;

const NEWLINE = 10;
const RETURN = 13;

/**
 * `fetch` whose answers fail when they grow too long: an event stream may go on for ever, but none
 * of its events; of any other answer the whole counts.
 */
export async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.body) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const body = response.body.pipeThrough(isStream ? limitEvents() : limitTotal());
  const { status, statusText, headers } = response;
  const bounded = new Response(body, { status, statusText, headers });
  // Where redirects led to.
  Object.defineProperty(bounded, "url", { value: response.url });
  return bounded;
}

function limitTotal(): TransformStream<Uint8Array, Uint8Array> {
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.length;
      check(length);
      controller.enqueue(chunk);
    },
  });
}

/** An event ends with an empty line (WHATWG HTML, server-sent events). */
function limitEvents(): TransformStream<Uint8Array, Uint8Array> {
  let length = 0;
  let lineIsEmpty = true;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        length++;
        if (byte === NEWLINE) {
          if (lineIsEmpty) length = 0;
          lineIsEmpty = true;
        } else if (byte !== RETURN) lineIsEmpty = false;
      }
      check(length);
      controller.enqueue(chunk);
    },
  });
}

function check(length: number): void {
  if (length > LONGEST_MESSAGE) {
    throw new Error(`it sent a message of more than ${LONGEST_MESSAGE} bytes`);
  }
}
