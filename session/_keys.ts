/** Where things are in the store. One place, so that no two parts disagree on it. */

type Key = (string | number)[];

/** Tells whether a text can be the id of a session at all: a UUID. */
export function isSessionId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

const header = (id: string): Key => ["session", id, "header"];
const tail = (id: string): Key => ["session", id, "tail"];
const events = (id: string): Key => ["session", id, "event"];
const event = (id: string, seq: number): Key => ["session", id, "event", seq];
/** `write` tells the parts of a commit that failed from those of the one that replaced it. */
const parts = (id: string, seq: number, write: string): Key => ["session", id, "part", seq, write];
const allParts = (id: string): Key => ["session", id, "part"];
const part = (id: string, seq: number, write: string, index: number): Key => [
  ...parts(id, seq, write),
  index,
];
/** Who has the session open. */
const lease = (id: string): Key => ["session", id, "lease"];
/** What a repair took away, under the key it had: `rest` is what followed the session's id. */
const damaged = (id: string, time: number, rest: readonly unknown[]): Key => [
  "session",
  id,
  "damaged",
  time,
  ...rest as Key,
];
const listing = (listedAt: number, id: string): Key => ["session_by_time", listedAt, id];
const listings = (): Key => ["session_by_time"];
/** Everything of a session but its place in the list. */
const session = (id: string): Key => ["session", id];
/** Says that there are events of a session that does not exist: no longer, or not yet. */
const remains = (id: string): Key => ["session_remains", id];
const allRemains = (): Key => ["session_remains"];
const isPart = (key: readonly (string | number)[]): boolean => key[2] === "part";

/** The keys of the store, by what they hold. */
export const keys = {
  session,
  lease,
  damaged,
  header,
  tail,
  events,
  event,
  parts,
  allParts,
  part,
  isPart,
  listing,
  listings,
  remains,
  allRemains,
} as const;
