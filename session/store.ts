/** Where sessions are kept: creating, finding and opening their logs. */
import { checkHeader } from "./_event_schema.ts";
import { isSessionId, keys } from "./_keys.ts";
import type { PruneResult } from "./_prune_sessions.ts";
import { adoptSession, type StoredEvent } from "./_adopt_session.ts";
import { type DeleteOptions, type DeleteResult, deleteSession } from "./_delete_session.ts";
import { readIndex, type SessionPosition, type SessionSummary } from "./_listing.ts";
import { SCHEMA_VERSION, type SessionHeader } from "./events.ts";
import { type Kv, type KvEntry, openKv, retryLocked } from "./kv.ts";
import { type LeaseOptions, type SessionLease, takeLease } from "./lease.ts";
import { readTail, SessionLog, type SessionLogOptions } from "./log.ts";
import type { SessionReport } from "./repair.ts";
import { DamagedEventError, NewerSchemaError } from "./log_errors.ts";
import { migrateHeader, newerSchema } from "./migrate.ts";
import type { Secret } from "./model/secret.ts";

export type { StoredEvent } from "./_adopt_session.ts";
export type { DeleteOptions, DeleteResult } from "./_delete_session.ts";
export type { SessionPosition, SessionSummary } from "./_listing.ts";
export type { PruneResult } from "./_prune_sessions.ts";

/** What the agent factory and the bridge need of a store. */
export interface SessionStore extends AsyncDisposable {
  /** Makes a session and resolves when its header is durable. */
  create(init: { readonly cwd: string }): Promise<SessionLog>;
  /** Finds a session's header. */
  header(id: string): Promise<SessionHeader | undefined>;
  /**
   * Opens a session's log at its end without owning the session: to read, or where nobody else
   * can be at it.
   *
   * @throws {DamagedEventError} If the header or the tail is damaged.
   */
  open(id: string): Promise<SessionLog | undefined>;
  /**
   * Opens a session's log and owns the session until the log, or the store, is disposed.
   *
   * @throws {SessionInUseError} If another process owns it; nothing is written.
   * @throws {DamagedEventError} If the header or the tail is damaged.
   */
  claim(id: string): Promise<SessionLog | undefined>;
  /** The sessions that were prompted, the last prompted first; `before` is where a page goes on. */
  list(before?: SessionPosition): AsyncIterable<SessionSummary>;
  /** Deletes everything of a session that nobody has open. Nobody sees a part of it. */
  delete(id: string, options?: DeleteOptions): Promise<DeleteResult>;
  /**
   * Writes a session that came from elsewhere: all of it or, when `events` throws, nothing.
   * False: there is one of this id.
   *
   * @param events Valid, and contiguous from `seq` 0.
   */
  adopt(header: SessionHeader, events: AsyncIterable<StoredEvent>): Promise<boolean>;
  /**
   * Deletes the sessions whose last prompt (their creation, where there was none) is older than
   * `before`, in milliseconds since the Unix epoch; not those that somebody has open.
   */
  prune(before: number): Promise<PruneResult>;
  /** Looks for damage in a session and writes nothing. Undefined: nothing is stored of it. */
  inspect(id: string): Promise<SessionReport | undefined>;
  /**
   * Mends what {@linkcode SessionStore.inspect} finds and can be mended.
   *
   * @throws {SessionInUseError} If the session is open.
   */
  mend(id: string): Promise<SessionReport | undefined>;
}

/** Options of {@linkcode openSessionStore}. */
export interface SessionStoreOptions extends SessionLogOptions {
  /** A file path, or the https URL of a KV Connect server. */
  readonly path: string;
  /** The access token of the server. */
  readonly token?: Secret | undefined;
  /** How long one call to the server may take, in milliseconds. @default {10_000} */
  readonly timeoutMs?: number | undefined;
  /** How sessions are owned. */
  readonly lease?: LeaseOptions;
}

/**
 * Opens the store at a path.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { openSessionStore } from "@dsh/acp/session";
 *
 * await using store = await openSessionStore({ path: ":memory:", now: () => 0 });
 * const log = await store.create({ cwd: "/work" });
 * await log.append(
 *   { type: "turn/start", data: { turn: 1, trigger: "prompt" } },
 *   { type: "turn/end", data: { turn: 1, reason: { type: "completed" } } },
 * );
 * assertEquals(log.length, 2);
 * assertEquals((await store.header(log.header.id))?.cwd, "/work");
 * ```
 *
 * @throws {StoreOpenError} If the store cannot be opened.
 */
export async function openSessionStore(options: SessionStoreOptions): Promise<SessionStore> {
  return new KvSessionStore(await openKv(options.path, options), options);
}

class KvSessionStore implements SessionStore {
  #kv: Kv;
  #options: SessionLogOptions & Pick<SessionStoreOptions, "lease">;
  #leases = new Set<SessionLease>();
  #closed: Promise<void> | undefined;

  constructor(kv: Kv, options: SessionLogOptions & Pick<SessionStoreOptions, "lease">) {
    this.#kv = kv;
    this.#options = options;
  }

  async create(init: { readonly cwd: string }): Promise<SessionLog> {
    const createdAt = this.#options.now();
    const header: SessionHeader = {
      version: SCHEMA_VERSION,
      id: crypto.randomUUID(),
      cwd: init.cwd,
      createdAt,
    };
    const tail = { next: 0, listedAt: createdAt };
    const { versionstamp } = await retryLocked(() =>
      this.#kv.atomic()
        .set(keys.header(header.id), header)
        .set(keys.tail(header.id), tail)
        .set(keys.listing(createdAt, header.id), null)
        .commit()
    );
    if (versionstamp === undefined) throw new Error("Cannot create a session: nothing was written");
    return new SessionLog(this.#kv, header, { value: tail, versionstamp }, this.#options);
  }

  async header(id: string): Promise<SessionHeader | undefined> {
    if (!isSessionId(id)) return undefined;
    const entry = await retryLocked(() => this.#kv.get(keys.header(id)));
    if (entry.versionstamp === null) return undefined;
    const migrated = migrateHeader(entry.value);
    if (migrated.type === "newer") {
      throw new NewerSchemaError(keys.header(id), newerSchema(migrated.version));
    }
    const checked = checkHeader(migrated.value);
    if (!checked.ok) throw new DamagedEventError(keys.header(id), checked.problem);
    if (checked.value.id !== id) {
      throw new DamagedEventError(keys.header(id), `its id is not ${id}`);
    }
    return checked.value;
  }

  async open(id: string): Promise<SessionLog | undefined> {
    const header = await this.header(id);
    if (!header) return undefined;
    return this.#log(header, await retryLocked(() => this.#kv.get(keys.tail(id))));
  }

  async claim(id: string): Promise<SessionLog | undefined> {
    const header = await this.header(id);
    if (!header) return undefined;
    const { lease, tail } = await this.#takeLease(id);
    try {
      // It may have been deleted since the header was read.
      if (tail.versionstamp === null && !await this.header(id)) {
        await lease.release();
        return undefined;
      }
      return this.#log(header, tail, lease);
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  async *list(before?: SessionPosition): AsyncGenerator<SessionSummary> {
    for await (const { cwd, ...entry } of readIndex(this.#kv, before)) {
      if (cwd !== undefined) yield { cwd, ...entry };
    }
  }

  async delete(id: string, options?: DeleteOptions): Promise<DeleteResult> {
    if (!isSessionId(id)) return { type: "absent" };
    return await deleteSession(this.#kv, id, this.#leaseOptions(), options);
  }

  async adopt(header: SessionHeader, events: AsyncIterable<StoredEvent>): Promise<boolean> {
    return await adoptSession(this.#kv, header, events, this.#options.now());
  }

  async prune(before: number): Promise<PruneResult> {
    const { pruneSessions } = await import("./_prune_sessions.ts");
    return await pruneSessions(this.#kv, before, this.#leaseOptions());
  }

  async inspect(id: string): Promise<SessionReport | undefined> {
    const { inspectSession } = await import("./repair.ts");
    return await inspectSession(this.#kv, id, this.#leaseOptions());
  }

  async mend(id: string): Promise<SessionReport | undefined> {
    const { mendSession } = await import("./repair.ts");
    // A lease of nothing would be litter.
    if (await this.inspect(id) === undefined) return undefined;
    const { lease } = await this.#takeLease(id);
    try {
      return await mendSession(this.#kv, id, this.#options.now());
    } finally {
      await lease.release();
    }
  }

  #leaseOptions(): LeaseOptions & { readonly now: () => number } {
    return { ...this.#options.lease, now: this.#options.now };
  }

  async #takeLease(id: string): Promise<{ lease: SessionLease; tail: KvEntry }> {
    const taken = await takeLease(this.#kv, id, this.#leaseOptions());
    for (const lease of this.#leases) if (lease.ended) this.#leases.delete(lease);
    this.#leases.add(taken.lease);
    return taken;
  }

  #log(header: SessionHeader, entry: KvEntry, lease?: SessionLease): SessionLog {
    const tail = readTail(entry.value);
    if (entry.versionstamp === null || !tail) {
      throw new DamagedEventError(keys.tail(header.id), "the tail is missing or invalid");
    }
    const { versionstamp } = entry;
    return new SessionLog(this.#kv, header, { value: tail, versionstamp }, this.#options, lease);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#leases].map((lease) => lease.release()));
    this.#kv.close();
  }
}
