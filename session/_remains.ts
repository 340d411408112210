/**
 * What is left of a session that does not exist: of a deletion or an import that was cut off. A
 * session exists when it has a header, so nobody sees these; a marker says that they are there.
 * Whoever writes or deletes them owns the marker by its versionstamp.
 */
import { keys } from "./_keys.ts";
import type { SessionPosition } from "./_listing.ts";
import { type Kv, type KvAtomic, retryLocked } from "./kv.ts";

/** The most keys that one commit deletes (the limit is 1,000 mutations). */
const DELETIONS = 500;

/** A marker that is owned. */
export interface Marker {
  readonly id: string;
  readonly versionstamp: string;
}

/** Adds to a commit that it makes the marker; its versionstamp will be the commit's. */
export function setMarker(atomic: KvAtomic, id: string, now: number): KvAtomic {
  return atomic.set(keys.remains(id), { at: now });
}

/** Makes a commit fail once somebody else owns the marker. */
export function checkMarker(atomic: KvAtomic, { id, versionstamp }: Marker): KvAtomic {
  return atomic.check({ key: keys.remains(id), versionstamp });
}

/** Takes over what is left of a session, from whoever was at it. Undefined: there is nothing. */
export async function claimRemains(
  kv: Kv,
  id: string,
  now: number,
): Promise<Marker | undefined> {
  for (;;) {
    const { versionstamp } = await retryLocked(() => kv.get(keys.remains(id)));
    if (versionstamp === null) return undefined;
    const claimed = await retryLocked(() =>
      setMarker(checkMarker(kv.atomic(), { id, versionstamp }), id, now).commit()
    );
    if (claimed.ok && claimed.versionstamp !== undefined) {
      return { id, versionstamp: claimed.versionstamp };
    }
  }
}

/** Marks what damage left of a session: events, but no header. Undefined: there is nothing. */
export async function markRemains(kv: Kv, id: string, now: number): Promise<Marker | undefined> {
  for await (const _entry of kv.list({ prefix: keys.session(id) }, { limit: 1 })) {
    const marked = await retryLocked(() => {
      const atomic = kv.atomic()
        .check({ key: keys.header(id), versionstamp: null })
        .check({ key: keys.remains(id), versionstamp: null });
      return setMarker(atomic, id, now).commit();
    });
    if (marked.ok && marked.versionstamp !== undefined) {
      return { id, versionstamp: marked.versionstamp };
    }
  }
  return undefined;
}

/** Deletes everything under a marker, the marker last. Stops when somebody else took it over. */
export async function sweepRemains(kv: Kv, marker: Marker): Promise<void> {
  for (;;) {
    const found: (readonly (string | number)[])[] = [];
    const stored = kv.list({ prefix: keys.session(marker.id) }, {
      limit: DELETIONS,
      batchSize: 100,
    });
    for await (const { key } of stored) found.push(key as (string | number)[]);
    const { ok } = await retryLocked(() => {
      const atomic = checkMarker(kv.atomic(), marker);
      for (const key of found) atomic.delete(key);
      if (found.length < DELETIONS) atomic.delete(keys.remains(marker.id));
      return atomic.commit();
    });
    if (!ok || found.length < DELETIONS) return;
  }
}

/** The markers, with when each was last claimed, in milliseconds since the Unix epoch. */
export async function* listRemains(kv: Kv): AsyncGenerator<SessionPosition> {
  for await (const { key, value } of kv.list({ prefix: keys.allRemains() })) {
    const { at } = (value ?? {}) as { at?: unknown };
    yield { id: String(key[1]), listedAt: typeof at === "number" ? at : 0 };
  }
}
