/** Events as they are stored: bytes of JSON, in parts where they are long. */
import { checkEvent } from "./_event_schema.ts";
import { type EventWrite, eventWrites } from "./_event_writes.ts";
import { keys } from "./_keys.ts";
import type { SessionEvent } from "./events.ts";
import { type Kv, type KvAtomic, MAX_COMMIT_BYTES, retryLocked } from "./kv.ts";
import { DamagedEventError, NewerSchemaError } from "./log_errors.ts";
import { migrateEvent, newerSchema } from "./migrate.ts";

/** What stands at an event's key when the event is in parts. */
export interface PartList {
  /** Names the parts' keys. */
  readonly write: string;
  /** The length of all parts together. */
  readonly bytes: number;
}

/** The value as a list of parts, if it is one. */
export function partList(value: unknown): PartList | undefined {
  const { write, bytes } = (value ?? {}) as { write?: unknown; bytes?: unknown };
  return typeof write === "string" && typeof bytes === "number" && Number.isSafeInteger(bytes) &&
      bytes >= 0
    ? { write, bytes }
    : undefined;
}

/**
 * The JSON of an event whose value at `keys.event(id, seq)` is `value`.
 *
 * @throws {DamagedEventError} If a part of it is missing.
 */
export function eventBytes(
  kv: Kv,
  id: string,
  seq: number,
  value: unknown,
): Uint8Array | Promise<Uint8Array> {
  return value instanceof Uint8Array ? value : joinParts(kv, id, seq, value);
}

/**
 * Reads an event of whatever schema version from its JSON.
 *
 * @throws {NewerSchemaError} If a newer program wrote it.
 * @throws {DamagedEventError} If it is invalid.
 */
export function decodeEvent(id: string, seq: number, bytes: Uint8Array): SessionEvent {
  const key = keys.event(id, seq);
  let parsed: unknown;
  try {
    parsed = JSON.parse(decoder.decode(bytes));
  } catch (error) {
    throw new DamagedEventError(key, error instanceof Error ? error.message : String(error));
  }
  const migrated = migrateEvent(parsed);
  if (migrated.type === "newer") throw new NewerSchemaError(key, newerSchema(migrated.version));
  const checked = checkEvent(migrated.value);
  if (!checked.ok) throw new DamagedEventError(key, checked.problem);
  if (checked.value.seq !== seq) throw new DamagedEventError(key, `its seq is not ${seq}`);
  return checked.value;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

async function joinParts(kv: Kv, id: string, seq: number, value: unknown): Promise<Uint8Array> {
  const key = keys.event(id, seq);
  const list = partList(value);
  if (!list) throw new DamagedEventError(key, "the value is neither bytes nor a list of parts");
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (
    const part of kv.list({ prefix: keys.parts(id, seq, list.write) }, { batchSize: 20 })
  ) {
    if (!(part.value instanceof Uint8Array) || part.key.at(-1) !== parts.length) {
      throw new DamagedEventError(key, `its part ${parts.length} is missing or invalid`);
    }
    parts.push(part.value);
    length += part.value.length;
  }
  if (length !== list.bytes) {
    throw new DamagedEventError(key, `its parts hold ${length} of ${list.bytes} bytes`);
  }
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** The most bytes of the events of one commit: what is longer, in sum, goes into parts. */
const MAX_EVENTS_BYTES = MAX_COMMIT_BYTES - 50_000;

/** The most writes of one commit (the limit is 1,000; keys count towards the size). */
const MAX_COMMIT_WRITES = 500;

/**
 * The writes of one append. What exceeds a commit is written ahead, in parts: without the value at
 * its event's key a part is not seen.
 */
export class EventCommit {
  /** The most events of one commit. */
  static readonly MAX_EVENTS = 400;
  #kv: Kv;
  #id: string;
  #events: EventWrite[] = [];
  #parts: EventWrite[] = [];
  #size = 0;

  /** For the session of this id. */
  constructor(kv: Kv, id: string) {
    this.#kv = kv;
    this.#id = id;
  }

  /** Adds an event; the parts of a long one may be written now. */
  async add(event: SessionEvent): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(event));
    const fits = sizeOf(this.#events) + bytes.length <= MAX_EVENTS_BYTES;
    for (const write of eventWrites(this.#id, event.seq, bytes, fits ? undefined : 0)) {
      await this.#push(write);
    }
  }

  /** Puts what was not written ahead into a commit. */
  apply(atomic: KvAtomic): KvAtomic {
    for (const { key, value } of [...this.#parts, ...this.#events]) atomic.set(key, value);
    return atomic;
  }

  async #push(write: EventWrite): Promise<void> {
    const count = this.#parts.length + this.#events.length;
    if (this.#size + write.size > MAX_COMMIT_BYTES || count >= MAX_COMMIT_WRITES) {
      await this.#writePartsAhead();
    }
    (keys.isPart(write.key) ? this.#parts : this.#events).push(write);
    this.#size += write.size;
  }

  async #writePartsAhead(): Promise<void> {
    const parts = this.#parts;
    this.#parts = [];
    this.#size = sizeOf(this.#events);
    if (parts.length === 0) return;
    await retryLocked(() => {
      const atomic = this.#kv.atomic();
      for (const { key, value } of parts) atomic.set(key, value);
      return atomic.commit();
    });
  }
}

function sizeOf(events: readonly EventWrite[]): number {
  return events.reduce((sum, { size }) => sum + size, 0);
}
