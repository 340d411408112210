/** Where sessions are kept: creating, finding and opening their logs. */
import { checkHeader } from "./_event_schema.ts";
import { keys } from "./_keys.ts";
import { SCHEMA_VERSION, type SessionHeader } from "./events.ts";
import { type Kv, openKv, retryLocked } from "./kv.ts";
import { DamagedEventError, SessionLog, type SessionLogOptions } from "./log.ts";

/** What the agent factory and the bridge need of a store. */
export interface SessionStore extends AsyncDisposable {
  /** Makes a session and resolves when its header is durable. */
  create(init: { readonly cwd: string }): Promise<SessionLog>;
  /** Finds a session's header. */
  header(id: string): Promise<SessionHeader | undefined>;
  /** Opens a session's log at its end. */
  open(id: string): Promise<SessionLog | undefined>;
}

/** Options of {@linkcode openSessionStore}. */
export interface SessionStoreOptions extends SessionLogOptions {
  /** A file path, or the https URL of a KV Connect server. */
  readonly path: string;
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
  return new KvSessionStore(await openKv(options.path), options);
}

class KvSessionStore implements SessionStore {
  #kv: Kv;
  #options: SessionLogOptions;

  constructor(kv: Kv, options: SessionLogOptions) {
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
    const entry = await retryLocked(() => this.#kv.get(keys.header(id)));
    if (entry.versionstamp === null) return undefined;
    const checked = checkHeader(entry.value);
    if (!checked.ok) throw new DamagedEventError(keys.header(id), checked.problem);
    if (checked.value.id !== id) {
      throw new DamagedEventError(keys.header(id), `its id is not ${id}`);
    }
    return checked.value;
  }

  async open(id: string): Promise<SessionLog | undefined> {
    const header = await this.header(id);
    if (!header) return undefined;
    const entry = await retryLocked(() => this.#kv.get(keys.tail(id)));
    const { next, listedAt } = (entry.value ?? {}) as { next?: unknown; listedAt?: unknown };
    if (
      entry.versionstamp === null || typeof next !== "number" || typeof listedAt !== "number"
    ) {
      throw new DamagedEventError(keys.tail(id), "the tail is missing or invalid");
    }
    const tail = { value: { next, listedAt }, versionstamp: entry.versionstamp };
    return new SessionLog(this.#kv, header, tail, this.#options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#kv.close();
    return Promise.resolve();
  }
}
