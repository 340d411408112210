/** Reading a session from a file that `exportSession` wrote. All of it is checked first. */
import type { StoredEvent } from "./_adopt_session.ts";
import { checkHeader } from "./_event_schema.ts";
import { readLines } from "./_lines.ts";
import { decodeEvent } from "./_stored_event.ts";
import type { SessionHeader } from "./events.ts";
import { DamagedEventError } from "./log_errors.ts";
import { migrateHeader, newerSchema } from "./migrate.ts";
import type { SessionStore } from "./store.ts";

/** What became of an import. Only `imported` wrote anything. */
export type ImportResult =
  | {
    readonly type: "imported";
    readonly header: SessionHeader;
    /** How many events it has. */
    readonly events: number;
  }
  /** There is a session of this id. */
  | { readonly type: "exists"; readonly id: string }
  /** `line` counts from 1. */
  | { readonly type: "invalid"; readonly line: number; readonly problem: string };

/**
 * Reads a session from JSON Lines into a store: a header, then its events from `seq` 0 without a
 * gap. The lines are stored as they are.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { exportSession, importSession, openSessionStore } from "@dsh/acp/session";
 *
 * await using from = await openSessionStore({ path: ":memory:", now: () => 5 });
 * await using to = await openSessionStore({ path: ":memory:", now: () => 6 });
 * const { header } = await from.create({ cwd: "/work" });
 * const file = await new Response(await exportSession(from, header.id)).blob();
 * const result = await importSession(to, () => file.stream());
 * assertEquals(result, { type: "imported", header, events: 0 });
 * ```
 *
 * @param open Opens the file at its beginning. It is called twice: to check it, then to store it.
 */
export async function importSession(
  store: Pick<SessionStore, "adopt" | "header">,
  open: () => ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>,
): Promise<ImportResult> {
  try {
    const checked = await withSession(await open(), async (header, stored) => {
      if (await store.header(header.id)) return { type: "exists", id: header.id } as const;
      let events = 0;
      for await (const _event of stored) events++;
      return { type: "imported", header, events } as const;
    });
    if (checked.type === "exists") return checked;
    const { id } = checked.header;
    const adopted = await withSession(await open(), (header, stored) => {
      if (header.id !== id) throw new InvalidLine(1, "the file changed while it was read");
      return store.adopt(header, stored);
    });
    return adopted ? checked : { type: "exists", id };
  } catch (error) {
    if (!(error instanceof InvalidLine)) throw error;
    return { type: "invalid", line: error.line, problem: error.message };
  }
}

/** Unwinds the reading of a file; importSession makes it a result. */
class InvalidLine extends Error {
  readonly line: number;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
  }
}

/** The longest line, in bytes: more than any event, and less than would end the process. */
const MAX_LINE_BYTES = 128 * 1024 * 1024;

async function withSession<Result>(
  stream: ReadableStream<Uint8Array>,
  use: (header: SessionHeader, events: AsyncIterable<StoredEvent>) => Promise<Result>,
): Promise<Result> {
  const lines = readLines(stream, MAX_LINE_BYTES);
  try {
    const first = await lines.next();
    const header = readHeader(first.done ? undefined : first.value);
    return await use(header, readEvents(lines, header.id));
  } finally {
    await lines.return(undefined);
  }
}

function readHeader(line: Uint8Array | "too long" | undefined): SessionHeader {
  if (line === undefined || line === "too long") {
    throw new InvalidLine(1, "it is not the header of a session");
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch (error) {
    throw new InvalidLine(1, error instanceof Error ? error.message : String(error));
  }
  const migrated = migrateHeader(parsed);
  if (migrated.type === "newer") throw new InvalidLine(1, newerSchema(migrated.version));
  const checked = checkHeader(migrated.value);
  if (!checked.ok) {
    throw new InvalidLine(1, `it is not the header of a session: ${checked.problem}`);
  }
  return checked.value;
}

async function* readEvents(
  lines: AsyncIterable<Uint8Array | "too long">,
  id: string,
): AsyncGenerator<StoredEvent> {
  let seq = 0;
  for await (const bytes of lines) {
    // The header is line 1, so the event of seq 0 is line 2.
    const line = seq + 2;
    if (bytes === "too long") throw new InvalidLine(line, `longer than ${MAX_LINE_BYTES} bytes`);
    yield { event: readEvent(id, seq, bytes, line), bytes };
    seq++;
  }
}

function readEvent(id: string, seq: number, bytes: Uint8Array, line: number): StoredEvent["event"] {
  try {
    return decodeEvent(id, seq, bytes);
  } catch (error) {
    if (error instanceof DamagedEventError) throw new InvalidLine(line, error.problem);
    throw error;
  }
}
