/** The append-only log of one session in Deno KV: the only truth about it. */
import { wellFormedJson } from "../tools/json.ts";
import { checkEvent } from "./_event_schema.ts";
import { type EventBody, SCHEMA_VERSION, type SessionEvent, type SessionHeader } from "./events.ts";
import { type Kv, retryLocked } from "./kv.ts";
import { keys } from "./_keys.ts";
import type { SessionLease } from "./lease.ts";
import { listedTitle, listingOf } from "./_listing.ts";
import { DamagedEventError, LogConflictError } from "./log_errors.ts";
import { type LogItem, readDamaged } from "./read_damaged.ts";
import { decodeEvent, eventBytes, EventCommit } from "./_stored_event.ts";

export { DamagedEventError, LogConflictError } from "./log_errors.ts";

/** Called after an event is durable, in order. */
export type LogListener = (event: SessionEvent) => void;

/** Where the next event goes. */
export interface LogTail {
  /** The `seq` of the next event. */
  readonly next: number;
  /** Milliseconds since the Unix epoch; the session's place in the list of recent ones. */
  readonly listedAt: number;
  /** The last title, as lists show it. */
  readonly title?: string;
}

/** A stored tail, if it is one. */
export function readTail(value: unknown): LogTail | undefined {
  const { next, listedAt, title } = (value ?? {}) as Partial<Record<keyof LogTail, unknown>>;
  if (!isCount(next) || !isCount(listedAt)) return undefined;
  return { next, listedAt, ...typeof title === "string" && { title } };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Options of {@linkcode SessionLog}. */
export interface SessionLogOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Is told of a listener that threw. The event is durable all the same. */
  readonly onFault?: (error: unknown) => void;
}

/**
 * Appends and reads the events of one session. Appends are serialised; each is one commit that
 * checks that nobody else wrote in between, and resolves when it is durable.
 */
export class SessionLog implements AsyncDisposable {
  /** The session it belongs to. */
  readonly header: SessionHeader;
  #kv: Kv;
  #options: SessionLogOptions;
  #tail: LogTail;
  #versionstamp: string;
  #queue: Promise<unknown> = Promise.resolve();
  #failure: Error | undefined;
  #listeners = new Set<LogListener>();
  #lease: SessionLease | undefined;
  /** What an append would have written whose answer never came. */
  #doubt: { readonly events: readonly SessionEvent[]; readonly tail: LogTail } | undefined;
  #closed: Promise<void> | undefined;

  /**
   * Takes a log over whose tail was read at `versionstamp`, and the session's lease, if any. Use
   * the store to get one.
   */
  constructor(
    kv: Kv,
    header: SessionHeader,
    tail: { readonly value: LogTail; readonly versionstamp: string },
    options: SessionLogOptions,
    lease?: SessionLease,
  ) {
    this.#kv = kv;
    this.#lease = lease;
    this.header = header;
    this.#tail = tail.value;
    this.#versionstamp = tail.versionstamp;
    this.#options = options;
  }

  /**
   * Aborts with a {@linkcode LogConflictError} when another process took the session over.
   * Undefined where the log was opened without owning the session.
   */
  get lost(): AbortSignal | undefined {
    return this.#lease?.lost;
  }

  /** The number of events. */
  get length(): number {
    return this.#tail.next;
  }

  /**
   * Appends events in one commit and resolves with them when they are durable. More than 400 take
   * several commits, each durable before the next one.
   *
   * @throws {TypeError} If an event does not match the schema; nothing is written.
   * @throws {LogConflictError} If another process wrote to the session; nothing is written, now
   * or by later calls.
   * @throws {Error} If the store failed: the events are written all or none, and
   * {@linkcode SessionLog.settle} finds out which. Later calls do that by themselves.
   */
  append(...bodies: readonly EventBody[]): Promise<readonly SessionEvent[]> {
    const appended = this.#queue.then(async () => {
      if (bodies.length <= EventCommit.MAX_EVENTS) return await this.#append(bodies);
      const events: SessionEvent[] = [];
      for (let start = 0; start < bodies.length; start += EventCommit.MAX_EVENTS) {
        events.push(...await this.#append(bodies.slice(start, start + EventCommit.MAX_EVENTS)));
      }
      return events;
    });
    this.#queue = appended.catch(() => {
      // The caller of this append gets the error; the next one must still have its turn.
    });
    return appended;
  }

  /**
   * Finds out whether an append that failed was kept all the same: a server can do a write and
   * die before it answers. The listeners are told of events that were.
   *
   * @throws {Error} If the store still fails.
   */
  settle(): Promise<void> {
    const settled = this.#queue.then(async () => void await this.#settle());
    this.#queue = settled.catch(() => {
      // Whoever asked is told; the doubt stays.
    });
    return settled;
  }

  /** Resolves when every append so far is durable or has failed. */
  async flush(): Promise<void> {
    await this.#queue;
  }

  /** Flushes, and lets go of the session: what is appended later is refused. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#closed ??= this.flush().then(async () => {
      this.#failure ??= new LogConflictError(
        `Cannot append to the session ${this.header.id} as it was closed here`,
      );
      await this.#lease?.release();
    });
  }

  /** Calls `listener` with each event from now on. */
  subscribe(listener: LogListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Reads the events from `from` on, in order.
   *
   * @throws {DamagedEventError} At the first event that is missing, invalid or of a newer schema.
   */
  async *read(from = 0): AsyncGenerator<SessionEvent> {
    for await (const { seq, bytes } of this.#stored(from)) {
      yield decodeEvent(this.header.id, seq, bytes);
    }
  }

  /**
   * Reads the events as they are stored, in order: the UTF-8 JSON of one each, on one line.
   *
   * @throws {DamagedEventError} As {@linkcode SessionLog.read} does: each is checked.
   */
  async *stored(): AsyncGenerator<Uint8Array> {
    // What another process appends meanwhile is not part of it.
    const end = this.length;
    for await (const { seq, bytes } of this.#stored(0)) {
      if (seq >= end) return;
      decodeEvent(this.header.id, seq, bytes);
      yield bytes;
    }
  }

  /** Reads the log whatever is wrong with some of its events, and says what is. */
  readDamaged(): AsyncGenerator<LogItem> {
    return readDamaged(this.#kv, this.header.id, this.#tail.next);
  }

  async *#stored(from: number): AsyncGenerator<StoredEvent> {
    const { id } = this.header;
    let expected = from;
    const stored = this.#kv.list(
      { prefix: keys.events(id), start: keys.event(id, from) },
      { batchSize: 500 },
    );
    for await (const entry of stored) {
      const seq = entry.key[entry.key.length - 1];
      if (seq !== expected) {
        throw new DamagedEventError(keys.event(id, expected), "the event is missing");
      }
      yield { seq: expected, bytes: await eventBytes(this.#kv, id, expected, entry.value) };
      expected++;
    }
    if (expected < this.#tail.next) {
      throw new DamagedEventError(keys.event(id, expected), "the event is missing");
    }
  }

  async #append(bodies: readonly EventBody[]): Promise<readonly SessionEvent[]> {
    if (this.#failure) throw this.#failure;
    await this.#settle();
    const time = this.#options.now();
    const events = bodies.map((body, index) =>
      this.#check({ v: SCHEMA_VERSION, seq: this.#tail.next + index, time, ...body })
    );
    const commit = new EventCommit(this.#kv, this.header.id);
    for (const event of events) await commit.add(event);
    const turnStarts = events.some((event) => event.type === "turn/start");
    const tail: LogTail = {
      next: this.#tail.next + events.length,
      listedAt: turnStarts ? time : this.#tail.listedAt,
      ...listedTitle(events, this.#tail.title),
    };
    const result = await retryLocked(() => {
      const atomic = this.#kv.atomic()
        .check({ key: keys.tail(this.header.id), versionstamp: this.#versionstamp })
        .set(keys.tail(this.header.id), tail);
      if (tail.listedAt !== this.#tail.listedAt) {
        atomic.delete(keys.listing(this.#tail.listedAt, this.header.id));
      }
      if (turnStarts || tail.title !== this.#tail.title) {
        atomic.set(keys.listing(tail.listedAt, this.header.id), listingOf(this.header, tail));
      }
      return commit.apply(atomic).commit();
    }).catch((error) => {
      this.#doubt = { events, tail };
      throw error;
    });
    if (!result.ok || result.versionstamp === undefined) {
      throw this.#failure = await this.#conflict();
    }
    this.#versionstamp = result.versionstamp;
    this.#tail = tail;
    for (const event of events) this.#notify(event);
    return events;
  }

  async #settle(): Promise<void> {
    const doubt = this.#doubt;
    const [first] = doubt?.events ?? [];
    if (!doubt || !first) return;
    const { id } = this.header;
    const tail = await retryLocked(() => this.#kv.get(keys.tail(id)));
    const event = await retryLocked(() => this.#kv.get(keys.event(id, first.seq)));
    // Of one commit: whoever takes a session over writes its tail anew.
    const isKept = tail.versionstamp !== null && tail.versionstamp === event.versionstamp &&
      await this.#isStored(doubt.events);
    this.#doubt = undefined;
    if (!isKept) return;
    this.#versionstamp = tail.versionstamp;
    this.#tail = doubt.tail;
    for (const kept of doubt.events) this.#notify(kept);
  }

  async #isStored(events: readonly SessionEvent[]): Promise<boolean> {
    const wanted = events.map((event) => JSON.stringify(event));
    let found = 0;
    for await (const { bytes } of this.#stored(this.#tail.next)) {
      if (new TextDecoder().decode(bytes) !== wanted[found++]) return false;
    }
    return found === wanted.length;
  }

  async #conflict(): Promise<Error> {
    // Whoever took the lease is known by name.
    await this.#lease?.verify();
    const lost: unknown = this.#lease?.lost.reason;
    if (lost instanceof Error) return lost;
    return new LogConflictError(
      `Cannot append to the session ${this.header.id} as another process wrote to it`,
    );
  }

  #check(event: unknown): SessionEvent {
    // The copy keeps later changes by the caller out of the log, and proves the event is JSON.
    const checked = checkEvent(JSON.parse(wellFormedJson(JSON.stringify(event))));
    if (!checked.ok) {
      throw new TypeError(`Cannot log an event as it is invalid: ${checked.problem}`);
    }
    return checked.value;
  }

  #notify(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#options.onFault?.(error);
      }
    }
  }
}

/** An event as it is stored. */
interface StoredEvent {
  readonly seq: number;
  readonly bytes: Uint8Array;
}
