/** Deleting a session: gone at once for everybody, then its events are cleared away. */
import { keys } from "./_keys.ts";
import { readIndex } from "./_listing.ts";
import { claimRemains, markRemains, setMarker, sweepRemains } from "./_remains.ts";
import { type Kv, retryLocked } from "./kv.ts";
import { leaseHolder, type LeaseOptions } from "./lease.ts";
import { describeHolder } from "./lease_holder.ts";

/** What became of a deletion. */
export type DeleteResult =
  | { readonly type: "deleted" }
  /** There is no such session. */
  | { readonly type: "absent" }
  /** It was prompted later than the deletion allows. */
  | { readonly type: "recent" }
  /** Another process has it open; `message` says which. Nothing was deleted. */
  | { readonly type: "live"; readonly message: string };

/** Options of a deletion. */
export interface DeleteOptions {
  /**
   * Delete only if the last prompt (the creation, where there is none) is older than this, in
   * milliseconds since the Unix epoch.
   */
  readonly before?: number;
}

/** Deletes everything of a session. A damaged one too: nothing but its keys is read. */
export async function deleteSession(
  kv: Kv,
  id: string,
  options: LeaseOptions & { readonly now: () => number },
  { before }: DeleteOptions = {},
): Promise<DeleteResult> {
  for (;;) {
    const [header, tail, lease] = await retryLocked(() =>
      Promise.all([kv.get(keys.header(id)), kv.get(keys.tail(id)), kv.get(keys.lease(id))])
    );
    if (header.versionstamp === null && tail.versionstamp === null) {
      return { type: await clearRest(kv, id, options.now()) ? "deleted" : "absent" };
    }
    // A lease that is taken from here on fails the commit.
    const holder = await leaseHolder(kv, id, options);
    if (holder) return { type: "live", message: describeHolder(holder, options.now()) };
    const { listedAt } = (tail.value ?? {}) as { listedAt?: unknown };
    const places = typeof listedAt === "number" ? [listedAt] : await placesOf(kv, id);
    if (before !== undefined && places.some((place) => place >= before)) {
      return { type: "recent" };
    }
    const gone = await retryLocked(() => {
      const atomic = kv.atomic();
      for (
        const { key, entry } of [
          { key: keys.header(id), entry: header },
          { key: keys.tail(id), entry: tail },
          { key: keys.lease(id), entry: lease },
        ]
      ) atomic.check({ key, versionstamp: entry.versionstamp }).delete(key);
      for (const place of places) atomic.delete(keys.listing(place, id));
      return setMarker(atomic, id, options.now()).commit();
    });
    if (!gone.ok || gone.versionstamp === undefined) continue;
    await sweepRemains(kv, { id, versionstamp: gone.versionstamp });
    return { type: "deleted" };
  }
}

/** Clears away what there may be of a session without a header; tells whether there was anything. */
async function clearRest(kv: Kv, id: string, now: number): Promise<boolean> {
  const places = await placesOf(kv, id);
  if (places.length > 0) {
    await retryLocked(() => {
      const atomic = kv.atomic();
      for (const place of places) atomic.delete(keys.listing(place, id));
      return atomic.commit();
    });
  }
  const left = await claimRemains(kv, id, now) ?? await markRemains(kv, id, now);
  if (left) await sweepRemains(kv, left);
  return left !== undefined || places.length > 0;
}

/** Where the list has a session whose tail cannot say it. */
async function placesOf(kv: Kv, id: string): Promise<number[]> {
  const places: number[] = [];
  for await (const entry of readIndex(kv)) if (entry.id === id) places.push(entry.listedAt);
  return places;
}
