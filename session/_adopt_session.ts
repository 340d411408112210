/** Writing a session that came from elsewhere: it is not there until all of it is. */
import { type EventWrite, eventWrites } from "./_event_writes.ts";
import { keys } from "./_keys.ts";
import { listedTitle, listingOf } from "./_listing.ts";
import { checkMarker, claimRemains, type Marker, setMarker, sweepRemains } from "./_remains.ts";
import type { SessionEvent, SessionHeader } from "./events.ts";
import { type Kv, MAX_COMMIT_BYTES, retryLocked } from "./kv.ts";
import type { LogTail } from "./log.ts";

/** The most writes of one commit (the limit is 1,000 mutations). */
const MAX_WRITES = 500;

/** An event and the JSON it is stored as. */
export interface StoredEvent {
  /** Of the current schema. */
  readonly event: SessionEvent;
  /** UTF-8, of whatever schema it was written in. */
  readonly bytes: Uint8Array;
}

/**
 * Writes a session under the id of its header. False: there is a session of this id.
 *
 * @param events Valid, and contiguous from `seq` 0. When it throws, nothing of it stays.
 * @throws {Error} If another process deleted or imported the same id meanwhile.
 */
export async function adoptSession(
  kv: Kv,
  header: SessionHeader,
  events: AsyncIterable<StoredEvent>,
  now: number,
): Promise<boolean> {
  const marker = await begin(kv, header.id, now);
  if (!marker) return false;
  try {
    let tail: LogTail = { next: 0, listedAt: header.createdAt };
    const writer = new MarkedWriter(kv, marker);
    for await (const { event, bytes } of events) {
      for (const write of eventWrites(header.id, event.seq, bytes)) await writer.add(write);
      tail = {
        next: event.seq + 1,
        listedAt: event.type === "turn/start" ? event.time : tail.listedAt,
        ...listedTitle([event], tail.title),
      };
    }
    await writer.flush();
    const { ok } = await retryLocked(() =>
      checkMarker(kv.atomic(), marker)
        .check({ key: keys.header(header.id), versionstamp: null })
        .set(keys.header(header.id), header)
        .set(keys.tail(header.id), tail)
        .set(
          keys.listing(tail.listedAt, header.id),
          tail.next === 0 ? null : listingOf(header, tail),
        )
        .delete(keys.remains(header.id))
        .commit()
    );
    if (!ok) throw lostTo(header.id);
    return true;
  } catch (error) {
    await sweepRemains(kv, marker).catch(() => {
      // The first error says more; what is left is invisible, and `prune` finds it.
    });
    throw error;
  }
}

async function begin(kv: Kv, id: string, now: number): Promise<Marker | undefined> {
  for (;;) {
    const left = await claimRemains(kv, id, now);
    if (left) await sweepRemains(kv, left);
    const { versionstamp } = await retryLocked(() => kv.get(keys.header(id)));
    if (versionstamp !== null) return undefined;
    const made = await retryLocked(() => {
      const atomic = kv.atomic()
        .check({ key: keys.header(id), versionstamp: null })
        .check({ key: keys.remains(id), versionstamp: null });
      return setMarker(atomic, id, now).commit();
    });
    if (made.ok && made.versionstamp !== undefined) return { id, versionstamp: made.versionstamp };
  }
}

/** Collects writes into commits that only the owner of the marker can make. */
class MarkedWriter {
  #kv: Kv;
  #marker: Marker;
  #writes: EventWrite[] = [];
  #size = 0;

  constructor(kv: Kv, marker: Marker) {
    this.#kv = kv;
    this.#marker = marker;
  }

  async add(write: EventWrite): Promise<void> {
    const full = this.#size + write.size > MAX_COMMIT_BYTES || this.#writes.length >= MAX_WRITES;
    if (full) await this.flush();
    this.#writes.push(write);
    this.#size += write.size;
  }

  async flush(): Promise<void> {
    const writes = this.#writes;
    this.#writes = [];
    this.#size = 0;
    if (writes.length === 0) return;
    const { ok } = await retryLocked(() => {
      const atomic = checkMarker(this.#kv.atomic(), this.#marker);
      for (const { key, value } of writes) atomic.set(key, value);
      return atomic.commit();
    });
    if (!ok) throw lostTo(this.#marker.id);
  }
}

function lostTo(id: string): Error {
  return new Error(
    `Cannot import the session ${id} as another process deletes or imports it at the same time`,
  );
}
