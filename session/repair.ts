/**
 * Finding and mending damage in a stored session.
 *
 * What mending does, and does not:
 * - An event that is missing or unreadable is replaced by a stand-in at its place, so that `seq`
 *   stays contiguous and no other event is rewritten. Where the events around it tell what it was
 *   (a tool call, the end of a turn, a result), the stand-in is that; otherwise it is a notice. A
 *   lost event at the end of the log for which nothing valid can stand is left out.
 * - The tail, the header and the place in the list are written anew from what the events, or the
 *   list, tell. A header that nothing tells of cannot be mended.
 * - Nothing is destroyed: each value that is replaced or taken away, and each part without an
 *   event, stays in the store under `["session", id, "damaged", time, ...]` with the rest of the
 *   key it had, until the session is deleted.
 * - What a newer program wrote is not damaged. Such a session is refused, and left as it is.
 * - Each step is one commit, safe to be cut off: a second run goes on.
 */
import { checkHeader } from "./_event_schema.ts";
import { keys } from "./_keys.ts";
import { listingOf } from "./_listing.ts";
import { standIns } from "./_mend_events.ts";
import { partList } from "./_stored_event.ts";
import { SCHEMA_VERSION, type SessionEvent, type SessionHeader } from "./events.ts";
import { type Kv, type KvEntry, retryLocked } from "./kv.ts";
import { leaseHolder, type LeaseOptions } from "./lease.ts";
import type { LeaseHolder } from "./lease_holder.ts";
import { type LogTail, readTail } from "./log.ts";
import { migrateHeader, newerSchema } from "./migrate.ts";
import { readDamaged } from "./read_damaged.ts";

/** One thing that is wrong. */
export interface Finding {
  /** The KV key, as JSON. */
  readonly key: string;
  /** What is wrong, for a person. */
  readonly problem: string;
  /** What mending does about it, or nothing. */
  readonly remedy: string | undefined;
}

/** What was found in a session. */
export interface SessionReport {
  /** The session. */
  readonly sessionId: string;
  /** The number of events that can be read. */
  readonly readable: number;
  /** What is wrong, in the order of the keys; empty: nothing is. */
  readonly findings: readonly Finding[];
  /** A newer program wrote to it: it must not be mended by this one. */
  readonly newer: boolean;
  /** Whether all that could be mended was mended. */
  readonly mended: boolean;
  /** Who has it open: what is being written just now may look damaged. */
  readonly holder: LeaseHolder | undefined;
}

/** Looks for damage and writes nothing. Undefined: nothing is stored under this id. */
export async function inspectSession(
  kv: Kv,
  id: string,
  lease: LeaseOptions & { readonly now: () => number },
): Promise<SessionReport | undefined> {
  const holder = await leaseHolder(kv, id, lease);
  const scan = await scanSession(kv, id);
  return scan && { ...report(id, scan, false), holder };
}

/**
 * Mends a session. The caller holds its lease.
 *
 * @param time Where the replaced values go: milliseconds since the Unix epoch.
 */
export async function mendSession(
  kv: Kv,
  id: string,
  time: number,
): Promise<SessionReport | undefined> {
  const scan = await scanSession(kv, id);
  if (!scan) return undefined;
  const found = report(id, scan, false);
  if (found.newer || found.findings.every(({ remedy }) => remedy === undefined)) return found;
  const commit = mender(kv, id, time, scan.tail);
  for (const { key } of scan.unowned) await commit({ remove: [key] });
  let { next } = scan;
  for (const { seq, event } of scan.standIns) {
    if (event) {
      const bytes = new TextEncoder().encode(JSON.stringify(event));
      await commit({ remove: [], set: [keys.event(id, seq), bytes] });
    } else {
      await commit({ remove: [keys.event(id, seq)] });
      next = Math.min(next, seq);
    }
  }
  const { header } = scan;
  if (header && scan.headerProblem) await commit({ remove: [], set: [keys.header(id), header] });
  const tail: LogTail = { ...scan.wanted, next };
  for (const key of scan.listings) {
    if (JSON.stringify(key) !== JSON.stringify(keys.listing(tail.listedAt, id))) {
      await commit({ remove: [key] });
    }
  }
  await retryLocked(() => {
    const atomic = kv.atomic()
      .check({ key: keys.tail(id), versionstamp: scan.tail.versionstamp })
      .set(keys.tail(id), tail);
    if (scan.tailProblem !== undefined && scan.tail.versionstamp !== null) {
      atomic.set(keys.damaged(id, time, ["tail"]), scan.tail.value);
    }
    if (header && scan.listingProblem !== undefined) {
      atomic.set(keys.listing(tail.listedAt, id), scan.prompted ? listingOf(header, tail) : null);
    }
    return atomic.commit();
  }).then(refuseConflict(id));
  return report(id, scan, true);
}

interface Scan {
  readonly readable: number;
  readonly header: SessionHeader | undefined;
  readonly headerProblem: string | undefined;
  readonly tail: KvEntry;
  readonly tailProblem: string | undefined;
  /** The tail as it should be. */
  readonly wanted: LogTail;
  /** The number of places in the log. */
  readonly next: number;
  readonly prompted: boolean;
  readonly damages: readonly { readonly key: string; readonly problem: string }[];
  /** Undefined: the place is left out. */
  readonly standIns: readonly {
    readonly seq: number;
    readonly event: SessionEvent | undefined;
  }[];
  /** Parts and events that belong to nothing. */
  readonly unowned: readonly { readonly key: Key; readonly problem: string }[];
  readonly listings: readonly Key[];
  readonly listingProblem: string | undefined;
  readonly newer: boolean;
}

type Key = (string | number)[];

async function scanSession(kv: Kv, id: string): Promise<Scan | undefined> {
  const headerEntry = await retryLocked(() => kv.get(keys.header(id)));
  const tail = await retryLocked(() => kv.get(keys.tail(id)));
  const stored = readTail(tail.value);
  const { places, damages, newer: newerEvent } = await readPlaces(kv, id, stored?.next ?? 0);
  if (headerEntry.versionstamp === null && tail.versionstamp === null && places.length === 0) {
    return undefined;
  }
  const readable = places.filter((event) => event !== undefined);
  const starts = readable.filter(({ type }) => type === "turn/start");
  const { listings, listed } = await readListings(kv, id);
  const header = readHeader(headerEntry, id, listed?.cwd, readable[0]?.time);
  const listedAt = stored?.listedAt ?? starts.at(-1)?.time ?? header.value?.createdAt ?? 0;
  const title = stored?.title ??
    readable.findLast((event) => event.type === "session/title")?.data.title.slice(0, 1_000);
  const listingKey = JSON.stringify(keys.listing(listedAt, id));
  const isListed = listings.some((key) => JSON.stringify(key) === listingKey);
  return {
    readable: readable.length,
    header: header.value,
    headerProblem: header.problem,
    tail,
    tailProblem: tailProblem(tail, stored, places.length),
    wanted: { next: places.length, listedAt, ...title !== undefined && { title } },
    next: places.length,
    prompted: starts.length > 0,
    damages,
    standIns: [...standIns(places)].map(([seq, body]) => ({
      seq,
      event: body && {
        v: SCHEMA_VERSION,
        seq,
        time: places.slice(0, seq).findLast((event) => event !== undefined)?.time ?? listedAt,
        ...body,
      },
    })),
    unowned: await readUnowned(kv, id, places.length, new Set(damages.map(({ seq }) => seq))),
    listings,
    listingProblem: isListed && listings.length === 1
      ? undefined
      : isListed
      ? "it is listed more than once"
      : "the session is not in the list at its time",
    newer: newerEvent || header.newer,
  };
}

async function readPlaces(kv: Kv, id: string, end: number) {
  const places: (SessionEvent | undefined)[] = [];
  const damages: { key: string; problem: string; seq: number }[] = [];
  let newer = false;
  for await (const item of readDamaged(kv, id, end)) {
    if (item.type === "event") {
      places.push(item.event);
      continue;
    }
    places.push(undefined);
    damages.push({ key: item.key, problem: item.problem, seq: item.seq });
    newer ||= item.reason === "newer";
  }
  return { places, damages, newer };
}

function readHeader(
  entry: KvEntry,
  id: string,
  cwd: string | undefined,
  time: number | undefined,
): { value: SessionHeader | undefined; problem: string | undefined; newer: boolean } {
  const migrated = migrateHeader(entry.value);
  if (migrated.type === "newer") {
    return { value: undefined, problem: newerSchema(migrated.version), newer: true };
  }
  const checked = checkHeader(migrated.value);
  if (checked.ok && checked.value.id === id) {
    return { value: checked.value, problem: undefined, newer: false };
  }
  const problem = entry.versionstamp === null
    ? "the header is missing"
    : checked.ok
    ? `its id is not ${id}`
    : checked.problem;
  const value = cwd === undefined
    ? undefined
    : { version: SCHEMA_VERSION, id, cwd, createdAt: time ?? 0 } as const;
  return { value, problem, newer: false };
}

function tailProblem(
  entry: KvEntry,
  stored: LogTail | undefined,
  places: number,
): string | undefined {
  if (entry.versionstamp === null) return "the tail is missing";
  if (!stored) return "the tail is invalid";
  return stored.next < places
    ? `it says there are ${stored.next} events, and ${places} are stored`
    : undefined;
}

async function readListings(kv: Kv, id: string) {
  const listings: Key[] = [];
  let listed: { cwd?: string } | undefined;
  for await (const { key, value } of kv.list({ prefix: keys.listings() }, { batchSize: 500 })) {
    if (key[2] !== id) continue;
    listings.push([...key] as Key);
    const { cwd } = (value ?? {}) as { cwd?: unknown };
    if (typeof cwd === "string") listed = { cwd };
  }
  return { listings, listed };
}

/** Parts whose event does not name them, and entries at keys that are no place of the log. */
async function readUnowned(kv: Kv, id: string, places: number, lost: ReadonlySet<number>) {
  const unowned: { key: Key; problem: string }[] = [];
  const writes = new Map<number, string>();
  for await (const { key, value } of kv.list({ prefix: keys.events(id) }, { batchSize: 500 })) {
    const seq = key[3];
    if (key.length !== 4 || typeof seq !== "number" || !Number.isInteger(seq) || seq >= places) {
      unowned.push({ key: [...key] as Key, problem: "it lies beyond the end of the log" });
      continue;
    }
    const list = partList(value);
    if (list && !lost.has(seq)) writes.set(seq, list.write);
  }
  for await (const { key } of kv.list({ prefix: keys.allParts(id) }, { batchSize: 10 })) {
    const [, , , seq, write] = key;
    if (typeof seq === "number" && writes.get(seq) === write) continue;
    unowned.push({ key: [...key] as Key, problem: "the part belongs to no event" });
  }
  return unowned;
}

function report(sessionId: string, scan: Scan, mended: boolean): SessionReport {
  const findings: Finding[] = [];
  const key = (of: readonly unknown[]): string => JSON.stringify(of);
  const replaced = new Map(scan.standIns.map(({ seq, event }) => [seq, event?.type]));
  if (scan.headerProblem !== undefined) {
    const remedy = scan.header && "it is written anew from the list of sessions";
    findings.push({ key: key(keys.header(sessionId)), problem: scan.headerProblem, remedy });
  }
  for (const { key, problem } of scan.damages) {
    const type = replaced.get((JSON.parse(key) as [string, string, string, number])[3]);
    const remedy = type === undefined ? "it is left out" : `a ${type} stands in for it`;
    findings.push({ key, problem, remedy });
  }
  for (const { key: at, problem } of scan.unowned) {
    findings.push({ key: key(at), problem, remedy: "it is put aside" });
  }
  if (scan.tailProblem !== undefined) {
    const remedy = "it is written anew from the events";
    findings.push({ key: key(keys.tail(sessionId)), problem: scan.tailProblem, remedy });
  }
  if (scan.listingProblem !== undefined) {
    const at = key(keys.listing(scan.wanted.listedAt, sessionId));
    const remedy = scan.header && "it is listed once, at its time";
    findings.push({ key: at, problem: scan.listingProblem, remedy });
  }
  const { readable, newer } = scan;
  return { sessionId, readable, findings, newer, mended, holder: undefined };
}

/** Commits one step; what is replaced or removed is put aside in the same commit. */
function mender(kv: Kv, id: string, time: number, tail: KvEntry) {
  return async (
    step: { readonly remove: readonly Key[]; readonly set?: readonly [Key, unknown] },
  ): Promise<void> => {
    const old = await Promise.all(
      [...step.remove, ...step.set ? [step.set[0]] : []]
        .map((key) => retryLocked(() => kv.get(key))),
    );
    await retryLocked(() => {
      // Nobody else writes: the lease is held, and a former owner would have changed the tail.
      const atomic = kv.atomic()
        .check({ key: keys.tail(id), versionstamp: tail.versionstamp });
      for (const { key, value, versionstamp } of old) {
        if (versionstamp === null) continue;
        const rest = key[0] === "session" ? key.slice(2) : key;
        atomic.set(keys.damaged(id, time, rest), value);
      }
      for (const key of step.remove) atomic.delete(key);
      if (step.set) atomic.set(...step.set);
      return atomic.commit();
    }).then(refuseConflict(id));
  };
}

function refuseConflict(id: string): (result: { readonly ok: boolean }) => void {
  return ({ ok }) => {
    if (!ok) throw new Error(`Cannot mend the session ${id} as another process wrote to it`);
  };
}
