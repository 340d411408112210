/** Reading a log that may be damaged: everything that is readable, and what is not. */
import { decodeEvent, eventBytes } from "./_stored_event.ts";
import { keys } from "./_keys.ts";
import type { SessionEvent } from "./events.ts";
import type { Kv } from "./kv.ts";
import { DamagedEventError, NewerSchemaError } from "./log_errors.ts";

/** A place in the log: an event, or what is wrong there. */
export type LogItem =
  | { readonly type: "event"; readonly event: SessionEvent }
  | {
    readonly type: "damage";
    /** Where the event should be. */
    readonly seq: number;
    /** The KV key, as JSON. */
    readonly key: string;
    /** For a person: completes "Cannot read the event at …". */
    readonly problem: string;
    /** Nothing is stored there, something damaged, or something of a newer program. */
    readonly reason: "missing" | "damaged" | "newer";
  };

/**
 * Reads all places of a log in order, whatever is wrong with some of them.
 *
 * @param end The number of events there should be; what is stored beyond is read as long as it is
 * contiguous.
 */
export async function* readDamaged(kv: Kv, id: string, end: number): AsyncGenerator<LogItem> {
  let next = 0;
  for await (const { key, value } of kv.list({ prefix: keys.events(id) }, { batchSize: 500 })) {
    const seq = key[3];
    // Keys that no event can have are not places of the log.
    if (key.length !== 4 || typeof seq !== "number" || !Number.isInteger(seq) || seq < next) {
      continue;
    }
    if (seq > next && seq >= end) break;
    while (next < seq) yield missing(id, next++);
    yield await readPlace(kv, id, seq, value);
    next++;
  }
  while (next < end) yield missing(id, next++);
}

async function readPlace(kv: Kv, id: string, seq: number, value: unknown): Promise<LogItem> {
  try {
    const event = decodeEvent(id, seq, await eventBytes(kv, id, seq, value));
    return { type: "event", event };
  } catch (error) {
    if (!(error instanceof DamagedEventError)) throw error;
    const { key, problem } = error;
    const reason = error instanceof NewerSchemaError ? "newer" : "damaged";
    return { type: "damage", seq, key, problem, reason };
  }
}

function missing(id: string, seq: number): LogItem {
  const { key, problem } = new DamagedEventError(keys.event(id, seq), "the event is missing");
  return { type: "damage", seq, key, problem, reason: "missing" };
}
