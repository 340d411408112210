/**
 * The part of Deno KV that the store uses, and how it is opened: `Deno.openKv` where the runtime
 * has it, otherwise the npm package `@deno/kv`, which shares the file format.
 */

/** A key: parts that order as Deno KV orders them. */
export type KvKey = readonly (string | number | Uint8Array)[];

/** A stored value, or `null` with a null versionstamp where there is none. */
export interface KvEntry {
  /** The whole key. */
  readonly key: readonly unknown[];
  /** A structured clone of what was set. */
  readonly value: unknown;
  /** Changes with each write; null where there is nothing. */
  readonly versionstamp: string | null;
}

/** A transaction: it commits whole, or not at all when a check fails. */
export interface KvAtomic {
  /** Fails the commit unless each key still has its versionstamp. */
  check(...checks: { key: KvKey; versionstamp: string | null }[]): KvAtomic;
  /** Writes a value. */
  set(key: KvKey, value: unknown): KvAtomic;
  /** Removes a key. */
  delete(key: KvKey): KvAtomic;
  /** Resolves when it is durable; `ok` is false when a check failed. */
  commit(): Promise<{ readonly ok: boolean; readonly versionstamp?: string }>;
}

/** Which entries to list. */
export type KvSelector =
  | { readonly prefix: KvKey; readonly start?: KvKey; readonly end?: KvKey }
  | { readonly start: KvKey; readonly end: KvKey };

/** A key-value database in the manner of Deno KV. */
export interface Kv {
  /** Reads one entry. */
  get(key: KvKey): Promise<KvEntry>;
  /** Reads entries in the order of their keys. */
  list(
    selector: KvSelector,
    options?: { readonly limit?: number; readonly reverse?: boolean; readonly batchSize?: number },
  ): AsyncIterable<KvEntry>;
  /** Begins a transaction. */
  atomic(): KvAtomic;
  /** Lets go of the database. */
  close(): void;
}

/** The largest value of one key, in bytes, that both implementations accept with its framing. */
export const MAX_VALUE_BYTES = 64_000;

/** The largest sum of values in one commit, in bytes (the limit is 819,200 with keys). */
export const MAX_COMMIT_BYTES = 768_000;

/** Why a store could not be opened. */
export class StoreOpenError extends Error {
  /** For `switch` and for messages. */
  override readonly name = "StoreOpenError";
}

/**
 * Opens a database at an explicit path.
 *
 * @param path A file path, or the https URL of a KV Connect server.
 * @throws {StoreOpenError} If it cannot be opened; the message names the path and the reason.
 */
export async function openKv(path: string): Promise<Kv> {
  try {
    const builtIn = (Deno as unknown as { openKv?: (path: string) => Promise<Kv> }).openKv;
    if (builtIn) return await builtIn.call(Deno, path);
    // Not a literal: `deno compile` must not embed what the binary never needs.
    const fallback = "npm:@deno/kv@0.14.0";
    const module: { openKv(path: string): Promise<Kv> } = await import(fallback);
    return await module.openKv(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new StoreOpenError(`Cannot open the session store "${path}": ${reason}`, {
      cause: error,
    });
  }
}

/** How long a commit waits for another process that holds the file, in milliseconds. */
const LOCK_DEADLINE_MS = 15_000;

/**
 * Runs a database operation again while another process holds the file. Both implementations
 * throw at once instead of waiting; such an error never leaves a commit behind.
 */
export async function retryLocked<Result>(operation: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + LOCK_DEADLINE_MS;
  for (let delay = 2;; delay = Math.min(delay * 2, 64)) {
    try {
      return await operation();
    } catch (error) {
      const locked = error instanceof Error && /database is (locked|busy)/i.test(error.message);
      if (!locked || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * delay));
    }
  }
}
