/** Where things are in the store. One place, so that no two parts disagree on it. */

type Key = (string | number)[];

const header = (id: string): Key => ["session", id, "header"];
const tail = (id: string): Key => ["session", id, "tail"];
const events = (id: string): Key => ["session", id, "event"];
const event = (id: string, seq: number): Key => ["session", id, "event", seq];
/** `write` tells the parts of a commit that failed from those of the one that replaced it. */
const parts = (id: string, seq: number, write: string): Key => ["session", id, "part", seq, write];
const part = (id: string, seq: number, write: string, index: number): Key => [
  ...parts(id, seq, write),
  index,
];
const listing = (listedAt: number, id: string): Key => ["session_by_time", listedAt, id];
const listings = (): Key => ["session_by_time"];
const isPart = (key: readonly (string | number)[]): boolean => key[2] === "part";

/** The keys of the store, by what they hold. */
export const keys = {
  header,
  tail,
  events,
  event,
  parts,
  part,
  isPart,
  listing,
  listings,
} as const;
