/**
 * The events of a chat completions stream, as real servers send them: with keep-alives, objects that
 * say nothing, and a connection that stays open after the end.
 */

/** Wraps `fetch` so that the provider package sees only events it understands, and an end. */
export function cleanEvents(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    if (!response.ok || !response.body || !isStream) return response;
    const body = response.body.pipeThrough(eventFilter());
    return new Response(body, { status: response.status, headers: response.headers });
  };
}

const DONE = "[DONE]";

/** Passes lines on as they are, without those that carry nothing, and ends after `[DONE]`. */
function eventFilter(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";

  function passLines(text: string, controller: TransformStreamDefaultController<Uint8Array>): void {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const data = /^data:(.*)$/.exec(line.trimEnd())?.[1]?.trim();
      if (data !== undefined && saysNothing(data)) continue;
      controller.enqueue(encoder.encode(`${line}\n`));
      if (data !== DONE) continue;
      controller.enqueue(encoder.encode("\n"));
      return controller.terminate();
    }
  }

  return new TransformStream({
    transform: (chunk, controller) =>
      passLines(decoder.decode(chunk, { stream: true }), controller),
    flush: (controller) => passLines(`${decoder.decode()}${rest === "" ? "" : "\n"}`, controller),
  });
}

/** Whether an event is a keep-alive of some kind. What is no JSON is not judged here. */
function saysNothing(data: string): boolean {
  if (data === "") return true;
  if (data === DONE) return false;
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value !== "object" || value === null) return value === null;
    const { choices, error, type } = value as Record<string, unknown>;
    const empty = Object.keys(value).length === 0 || choices === null || type === "ping";
    return empty && error === undefined;
  } catch {
    // The provider package says what is wrong with it.
    return false;
  }
}
