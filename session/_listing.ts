/** The list of sessions: an index of those that were prompted, kept by the log's own commits. */
import { keys } from "./_keys.ts";
import type { SessionEvent, SessionHeader } from "./events.ts";
import type { Kv } from "./kv.ts";

/** A place in the list. */
export interface SessionPosition {
  /** Milliseconds since the Unix epoch. */
  readonly listedAt: number;
  /** The session's id. */
  readonly id: string;
}

/** What a list says of a session. */
export interface SessionSummary extends SessionPosition {
  /** When it was last prompted, in milliseconds since the Unix epoch. */
  readonly listedAt: number;
  /** Its working directory, absolute. */
  readonly cwd: string;
  /** Its last title. */
  readonly title?: string;
}

/** How much of a title the index keeps: its values are bounded. */
const MAX_TITLE = 1_000;

/** The title that holds after `events`. */
export function listedTitle(
  events: readonly SessionEvent[],
  before: string | undefined,
): { readonly title?: string } {
  const last = events.findLast((event) => event.type === "session/title");
  const title = last ? last.data.title.slice(0, MAX_TITLE).toWellFormed() : before;
  return title === undefined ? {} : { title };
}

/** What the index holds of a session that was prompted. One that never was has `null` there. */
export function listingOf(
  { cwd }: SessionHeader,
  { title }: { readonly title?: string },
): { readonly cwd: string; readonly title?: string } {
  return { cwd, ...title !== undefined && { title } };
}

/** Every session of the index, the newest first. `cwd` is undefined where there was no prompt. */
export async function* readIndex(
  kv: Kv,
  before?: SessionPosition,
): AsyncGenerator<SessionPosition & { readonly cwd?: string; readonly title?: string }> {
  const selector = {
    prefix: keys.listings(),
    ...before && { end: keys.listing(before.listedAt, before.id) },
  };
  for await (const { key, value } of kv.list(selector, { reverse: true, batchSize: 100 })) {
    const [, listedAt, id] = key;
    if (typeof listedAt !== "number" || typeof id !== "string") continue;
    const { cwd, title } = (value ?? {}) as { cwd?: unknown; title?: unknown };
    yield {
      listedAt,
      id,
      ...typeof cwd === "string" && { cwd },
      ...typeof title === "string" && { title },
    };
  }
}
