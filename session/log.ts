/** The append-only log of one session in Deno KV: the only truth about it. */
import { checkEvent } from "./_event_schema.ts";
import { type EventBody, SCHEMA_VERSION, type SessionEvent, type SessionHeader } from "./events.ts";
import { type Kv, type KvAtomic, MAX_COMMIT_BYTES, MAX_VALUE_BYTES, retryLocked } from "./kv.ts";
import { keys } from "./_keys.ts";

/** Another process wrote to the session since this one read it. Nothing was written. */
export class LogConflictError extends Error {
  /** For `switch` and for messages. */
  override readonly name = "LogConflictError";
}

/** A stored event cannot be read. `key` says which. */
export class DamagedEventError extends Error {
  /** For `switch` and for messages. */
  override readonly name = "DamagedEventError";
  /** The KV key, as JSON. */
  readonly key: string;

  /** `problem` completes the sentence "Cannot read the event at …". */
  constructor(key: readonly unknown[], problem: string) {
    super(`Cannot read the event at ${JSON.stringify(key)}: ${problem}`);
    this.key = JSON.stringify(key);
  }
}

/** Called after an event is durable, in order. */
export type LogListener = (event: SessionEvent) => void;

/** Where the next event goes. */
export interface LogTail {
  /** The `seq` of the next event. */
  readonly next: number;
  /** Milliseconds since the Unix epoch; the session's place in the list of recent ones. */
  readonly listedAt: number;
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
export class SessionLog {
  /** The session it belongs to. */
  readonly header: SessionHeader;
  #kv: Kv;
  #options: SessionLogOptions;
  #tail: LogTail;
  #versionstamp: string;
  #queue: Promise<unknown> = Promise.resolve();
  #failure: Error | undefined;
  #listeners = new Set<LogListener>();

  /** Takes a log over whose tail was read at `versionstamp`. Use the store to get one. */
  constructor(
    kv: Kv,
    header: SessionHeader,
    tail: { readonly value: LogTail; readonly versionstamp: string },
    options: SessionLogOptions,
  ) {
    this.#kv = kv;
    this.header = header;
    this.#tail = tail.value;
    this.#versionstamp = tail.versionstamp;
    this.#options = options;
  }

  /** The number of events. */
  get length(): number {
    return this.#tail.next;
  }

  /**
   * Appends events in one commit and resolves with them when they are durable.
   *
   * @throws {TypeError} If an event does not match the schema; nothing is written.
   * @throws {LogConflictError} If another process wrote to the session; nothing is written, now
   * or by later calls.
   */
  append(...bodies: readonly EventBody[]): Promise<readonly SessionEvent[]> {
    const appended = this.#queue.then(() => this.#append(bodies));
    this.#queue = appended.catch(() => {
      // The caller of this append gets the error; the next one must still have its turn.
    });
    return appended;
  }

  /** Resolves when every append so far is durable or has failed. */
  async flush(): Promise<void> {
    await this.#queue;
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
      yield await this.#decode(entry.key, entry.value, expected);
      expected++;
    }
    if (expected < this.#tail.next) {
      throw new DamagedEventError(keys.event(id, expected), "the event is missing");
    }
  }

  async #append(bodies: readonly EventBody[]): Promise<readonly SessionEvent[]> {
    if (this.#failure) throw this.#failure;
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
    };
    const result = await retryLocked(() => {
      const atomic = this.#kv.atomic()
        .check({ key: keys.tail(this.header.id), versionstamp: this.#versionstamp })
        .set(keys.tail(this.header.id), tail);
      if (tail.listedAt !== this.#tail.listedAt) {
        atomic.delete(keys.listing(this.#tail.listedAt, this.header.id))
          .set(keys.listing(tail.listedAt, this.header.id), null);
      }
      return commit.apply(atomic).commit();
    });
    if (!result.ok || result.versionstamp === undefined) {
      this.#failure = new LogConflictError(
        `Cannot append to the session ${this.header.id} as another process wrote to it`,
      );
      throw this.#failure;
    }
    this.#versionstamp = result.versionstamp;
    this.#tail = tail;
    for (const event of events) this.#notify(event);
    return events;
  }

  #check(event: unknown): SessionEvent {
    // The copy keeps later changes by the caller out of the log, and proves the event is JSON.
    const checked = checkEvent(JSON.parse(JSON.stringify(event)));
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

  async #decode(key: readonly unknown[], value: unknown, seq: number): Promise<SessionEvent> {
    const bytes = value instanceof Uint8Array ? value : await this.#joinParts(key, value, seq);
    let parsed: unknown;
    try {
      parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch (error) {
      throw new DamagedEventError(key, error instanceof Error ? error.message : String(error));
    }
    const checked = checkEvent(parsed);
    if (!checked.ok) throw new DamagedEventError(key, checked.problem);
    if (checked.value.seq !== seq) throw new DamagedEventError(key, `its seq is not ${seq}`);
    return checked.value;
  }

  async #joinParts(key: readonly unknown[], value: unknown, seq: number): Promise<Uint8Array> {
    const { write, bytes } = (value ?? {}) as { write?: unknown; bytes?: unknown };
    if (typeof write !== "string" || typeof bytes !== "number") {
      throw new DamagedEventError(key, "the value is neither bytes nor a list of parts");
    }
    const joined = new Uint8Array(bytes);
    let offset = 0;
    const stored = this.#kv.list({ prefix: keys.parts(this.header.id, seq, write) }, {
      batchSize: 20,
    });
    for await (const entry of stored) {
      if (!(entry.value instanceof Uint8Array) || offset + entry.value.length > bytes) {
        throw new DamagedEventError(entry.key, "the part does not fit its event");
      }
      joined.set(entry.value, offset);
      offset += entry.value.length;
    }
    if (offset !== bytes) throw new DamagedEventError(key, `${bytes - offset} bytes are missing`);
    return joined;
  }
}

/** The writes of one append. What exceeds a commit is written ahead: without its event it is not seen. */
class EventCommit {
  #kv: Kv;
  #id: string;
  #writes: { readonly key: readonly (string | number)[]; readonly value: unknown }[] = [];
  #size = 0;

  constructor(kv: Kv, id: string) {
    this.#kv = kv;
    this.#id = id;
  }

  async add(event: SessionEvent): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(event));
    if (bytes.length <= MAX_VALUE_BYTES) {
      await this.#set(keys.event(this.#id, event.seq), bytes, bytes.length);
      return;
    }
    const write = crypto.randomUUID();
    let index = 0;
    for (let start = 0; start < bytes.length; start += MAX_VALUE_BYTES) {
      const slice = bytes.slice(start, start + MAX_VALUE_BYTES);
      await this.#set(keys.part(this.#id, event.seq, write, index++), slice, slice.length);
    }
    await this.#set(keys.event(this.#id, event.seq), { write, bytes: bytes.length }, 64);
  }

  apply(atomic: KvAtomic): KvAtomic {
    for (const { key, value } of this.#writes) atomic.set(key, value);
    return atomic;
  }

  async #set(key: readonly (string | number)[], value: unknown, size: number): Promise<void> {
    if (this.#size + size > MAX_COMMIT_BYTES) {
      await this.#writePartsAhead();
    }
    this.#writes.push({ key, value });
    this.#size += size;
  }

  async #writePartsAhead(): Promise<void> {
    const isPart = (write: { key: readonly (string | number)[] }) => keys.isPart(write.key);
    const parts = this.#writes.filter(isPart);
    this.#writes = this.#writes.filter((write) => !isPart(write));
    this.#size = this.#writes.reduce((sum, { value }) => sum + sizeOf(value), 0);
    await retryLocked(() => {
      const atomic = this.#kv.atomic();
      for (const { key, value } of parts) atomic.set(key, value);
      return atomic.commit();
    });
  }
}

function sizeOf(value: unknown): number {
  return value instanceof Uint8Array ? value.length : 64;
}
