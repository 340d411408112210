import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** How long the end of the input is held back, in milliseconds. */
const HOLD_MS = 150;

/**
 * Holds the end of the input back until the requests before it are answered: a client that writes
 * its last request and closes wants the answer. A prompt is not waited for: it is cancelled.
 */
export function answerBeforeClose(stream: Stream): Stream {
  const open = new Set<unknown>();
  let answered = Promise.withResolvers<void>();

  async function allAnswered(): Promise<void> {
    while (open.size > 0) await answered.promise;
  }

  const readable = stream.readable.pipeThrough(
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        const isRequest = "method" in message && "id" in message;
        if (isRequest && message.method !== "session/prompt") open.add(message.id);
        controller.enqueue(message);
      },
      flush: () => withinTime(allAnswered()),
    }),
  );
  const outgoing = stream.writable.getWriter();
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      await outgoing.write(message);
      if ("method" in message || !("id" in message) || !open.delete(message.id)) return;
      answered.resolve();
      answered = Promise.withResolvers<void>();
    },
    close: () => outgoing.close(),
    abort: (reason) => outgoing.abort(reason),
  });
  return { readable, writable };
}

async function withinTime(promise: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, HOLD_MS);
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
