/** A session as a file: JSON Lines, the header first, then one event a line exactly as stored. */
import type { SessionStore } from "./store.ts";

/**
 * Writes a session out as JSON Lines in UTF-8. What is read is the session as it was at the call;
 * a process that has it open does not disturb that. `importSession` reads it back, and exporting
 * that gives the same bytes.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { exportSession, openSessionStore } from "@dsh/acp/session";
 *
 * await using store = await openSessionStore({ path: ":memory:", now: () => 5 });
 * const log = await store.create({ cwd: "/work" });
 * await log.append({ type: "turn/start", data: { turn: 1, trigger: "prompt" } });
 * const stream = await exportSession(store, log.header.id);
 * const [header, event] = (await new Response(stream).text()).split("\n");
 * assertEquals(JSON.parse(header!).cwd, "/work");
 * assertEquals(JSON.parse(event!).data, { turn: 1, trigger: "prompt" });
 * ```
 *
 * @returns Undefined where there is no session of this id. The stream fails with a
 * `DamagedEventError` at an event that cannot be read.
 * @throws {DamagedEventError} If the header or the tail cannot be read.
 */
export async function exportSession(
  store: Pick<SessionStore, "open">,
  id: string,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const log = await store.open(id);
  if (!log) return undefined;
  async function* lines(header: unknown, events: AsyncIterable<Uint8Array>) {
    yield new TextEncoder().encode(`${JSON.stringify(header)}\n`);
    for await (const event of events) {
      const line = new Uint8Array(event.length + 1);
      line.set(event);
      line[event.length] = NEWLINE;
      yield line;
    }
  }
  return ReadableStream.from(lines(log.header, log.stored()));
}

const NEWLINE = 0x0a;
