/** How an event lies in the store: in one value, or in parts where it is larger than that. */
import { keys } from "./_keys.ts";
import { MAX_VALUE_BYTES } from "./kv.ts";

/** One key of an event. */
export interface EventWrite {
  readonly key: readonly (string | number)[];
  readonly value: unknown;
  /** About how many bytes it adds to a commit. */
  readonly size: number;
}

/** About what a value that is not bytes takes. */
const SMALL = 64;

/**
 * The keys of an event whose JSON is `bytes`: the parts first, the one that makes it seen last.
 * `largest` is the most bytes that stay in one value.
 */
export function* eventWrites(
  id: string,
  seq: number,
  bytes: Uint8Array,
  largest: number = MAX_VALUE_BYTES,
): Generator<EventWrite> {
  const key = keys.event(id, seq);
  if (bytes.length <= largest) {
    yield { key, value: bytes, size: bytes.length };
    return;
  }
  const write = crypto.randomUUID();
  for (let start = 0, index = 0; start < bytes.length; start += MAX_VALUE_BYTES, index++) {
    const value = bytes.slice(start, start + MAX_VALUE_BYTES);
    yield { key: keys.part(id, seq, write, index), value, size: value.length };
  }
  yield { key, value: { write, bytes: bytes.length }, size: SMALL };
}
