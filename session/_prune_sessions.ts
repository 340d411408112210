/** Retention: deleting what was not used for long, and what cut-off work left behind. */
import { deleteSession } from "./_delete_session.ts";
import { readIndex } from "./_listing.ts";
import { claimRemains, listRemains, sweepRemains } from "./_remains.ts";
import type { Kv } from "./kv.ts";
import type { LeaseOptions } from "./lease.ts";

/** What was pruned. */
export interface PruneResult {
  /** The ids of the sessions that were deleted. */
  readonly deleted: readonly string[];
  /** How many are old enough and were kept, as somebody has them open. */
  readonly live: number;
  /** How many deletions and imports that had been cut off were cleared away. */
  readonly remains: number;
}

/** A deletion or import that was not heard of for so long is not going on any more. */
const ABANDONED_MS = 86_400_000;

/** Deletes the sessions whose place in the list is older than `before`. */
export async function pruneSessions(
  kv: Kv,
  before: number,
  options: LeaseOptions & { readonly now: () => number },
): Promise<PruneResult> {
  const deleted: string[] = [];
  let live = 0;
  // Every session is older than one that would have the lowest id at that time.
  for await (const { id } of readIndex(kv, { listedAt: before, id: "" })) {
    const result = await deleteSession(kv, id, options, { before });
    if (result.type === "deleted") deleted.push(id);
    if (result.type === "live") live++;
  }
  let remains = 0;
  for await (const { id, listedAt } of listRemains(kv)) {
    if (listedAt > options.now() - ABANDONED_MS) continue;
    const left = await claimRemains(kv, id, options.now());
    if (!left) continue;
    await sweepRemains(kv, left);
    remains++;
  }
  return { deleted, live, remains };
}
