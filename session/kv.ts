/**
 * The part of Deno KV that the store uses, and how it is opened.
 *
 * A path is opened by `Deno.openKv` where the runtime has it, otherwise by the npm package
 * `@deno/kv`, which shares the file format. It needs `--allow-read` and `--allow-write` of the
 * path; the package needs `--allow-ffi`, `--allow-read` and
 * `--allow-sys=cpus,networkInterfaces,hostname` instead.
 *
 * An https URL is a KV Connect server (self-hosted denokv, Deno Deploy), to which a small client
 * of this module speaks. It needs `--allow-net` of the server's host, and of the host of its data
 * where that is another one (Deno Deploy); the program reads the token from the variable
 * `DENO_KV_ACCESS_TOKEN` (`--allow-env`). The unstable flag and ffi are not needed. Every call has
 * a deadline, and after one that failed nothing more of it is sent.
 */
import { fileKv } from "./_file_kv.ts";
import type { Secret } from "./model/secret.ts";
import { StoreOpenError, StoreUnavailableError } from "./store_errors.ts";

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

export { StoreOpenError, StoreUnavailableError } from "./store_errors.ts";

/** Options of {@linkcode openKv}. They concern only a server; a file needs none. */
export interface OpenKvOptions {
  /** The access token of the server. */
  readonly token?: Secret | undefined;
  /** How long one call to the server may take, in milliseconds. @default {10_000} */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since the Unix epoch. @default {Date.now} */
  readonly now?: (() => number) | undefined;
}

const REMOTE_TIMEOUT_MS = 10_000;

/** Whether a store is named by a URL and not by a path. */
function isRemoteStore(path: string): boolean {
  return /^https?:/i.test(path);
}

/**
 * Opens a database at an explicit path.
 *
 * @param path A file path, or the https URL of a KV Connect server.
 * @throws {StoreOpenError} If it cannot be opened; the message names the path and the reason.
 */
export async function openKv(path: string, options: OpenKvOptions = {}): Promise<Kv> {
  if (isRemoteStore(path)) return await openServer(path, options);
  await makePrivate(path);
  return await openFile(path);
}

async function openFile(path: string): Promise<Kv> {
  try {
    const builtIn = (Deno as unknown as { openKv?: (path: string) => Promise<Kv> }).openKv;
    if (builtIn) return fileKv(await builtIn.call(Deno, path), path);
    // Not a literal: `deno compile` must not embed what the binary never needs.
    const fallback = "npm:@deno/kv@0.14.0";
    const module: { openKv(path: string): Promise<Kv> } = await import(fallback);
    return fileKv(await module.openKv(path), path);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new StoreOpenError(`Cannot open the session store "${path}": ${reason}`, {
      cause: error,
    });
  }
}

/**
 * Makes the file of a new store readable by its owner only: prompts and outputs are nobody else's
 * business, wherever it lies. The database's other files take over its mode.
 */
async function makePrivate(path: string): Promise<void> {
  if (path === ":memory:") return;
  try {
    using _file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  } catch {
    // It is there already, or cannot be made: then opening it says why.
  }
}

/** The messages name no more of the URL than cannot be a secret. */
async function openServer(path: string, { token, timeoutMs, now }: OpenKvOptions): Promise<Kv> {
  const { isHeaderText, isPrivate, shownUrl } = await import("./_kv_connect_client.ts");
  const url = URL.parse(path);
  if (!url || url.hostname === "") {
    throw new StoreOpenError("Cannot open the session store: its URL is invalid");
  }
  const refuse = (rule: string) =>
    new StoreOpenError(`Cannot open the session store ${shownUrl(url)}: ${rule}`);
  if (url.username !== "" || url.password !== "") {
    throw refuse("its URL must hold no user and no password; DENO_KV_ACCESS_TOKEN holds the token");
  }
  if (!isPrivate(url)) throw refuse("its URL must be https; http is for this machine only");
  if (!token || token.reveal() === "") throw refuse("DENO_KV_ACCESS_TOKEN must hold its token");
  if (!isHeaderText(token.reveal())) {
    throw refuse("DENO_KV_ACCESS_TOKEN must be printable ASCII without spaces");
  }
  const { openRemoteKv } = await import("./_remote_kv.ts");
  try {
    return await openRemoteKv({
      url,
      token,
      timeoutMs: timeoutMs ?? REMOTE_TIMEOUT_MS,
      now: now ?? Date.now,
    });
  } catch (error) {
    throw new StoreOpenError(error instanceof Error ? error.message : String(error));
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
      if (!locked) throw error;
      if (performance.now() > deadline) {
        throw new StoreUnavailableError(
          "Cannot use the session store: another process has kept it locked for " +
            `${LOCK_DEADLINE_MS / 1_000} s`,
          { cause: error },
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * delay));
    }
  }
}
