/**
 * A database behind a KV Connect server. Not through `Deno.openKv`: its client tries a write
 * again for ever, also after `close()`, so a write that was reported as failed could still come
 * once the server is back. Here nothing is sent after a call has failed.
 */
import { deserialize, serialize } from "node:v8";
import { KvConnectClient, type KvConnectOptions } from "./_kv_connect_client.ts";
import {
  boundAfter,
  decodeAtomicWrite,
  decodeKey,
  decodeSnapshotRead,
  encodeAtomicWrite,
  encodeKey,
  encodeSnapshotRead,
  type ReadRange,
  type StoredEntry,
  type WireCheck,
  type WireMutation,
} from "./_kv_connect_codec.ts";
import type { Kv, KvAtomic, KvEntry, KvKey, KvSelector } from "./kv.ts";
import { StoreUnavailableError } from "./store_errors.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** How many ranges a server reads at once. */
const MAX_RANGES = 10;
/** What a batch of a list should come to, in bytes, so that it arrives within the deadline. */
const BATCH_BYTES = 1_000_000;
const FIRST_BATCH = 50;
const LARGEST_BATCH = 500;

/**
 * Connects to a server.
 *
 * @throws {StoreUnavailableError} If it cannot be reached, or refuses.
 */
export async function openRemoteKv(options: KvConnectOptions): Promise<Kv> {
  const client = new KvConnectClient(options);
  await client.connect();
  return new RemoteKv(client);
}

class RemoteKv implements Kv {
  #client: KvConnectClient;

  constructor(client: KvConnectClient) {
    this.#client = client;
  }

  async get(key: KvKey): Promise<KvEntry> {
    const [stored] = await read(this.#client, [encodeKey(key)]);
    return stored ? decodeEntry(stored) : { key, value: null, versionstamp: null };
  }

  async *list(
    selector: KvSelector,
    { limit = Infinity, reverse = false, batchSize = LARGEST_BATCH }: {
      readonly limit?: number;
      readonly reverse?: boolean;
      readonly batchSize?: number;
    } = {},
  ): AsyncGenerator<KvEntry> {
    let { start, end } = bounds(selector);
    let size = Math.min(FIRST_BATCH, batchSize);
    for (let left = limit; left > 0;) {
      const asked = Math.min(size, left);
      const [entries = []] = await readRanges(this.#client, [
        { start, end, limit: asked, reverse },
      ]);
      for (const entry of entries) yield decodeEntry(entry);
      const last = entries.at(-1);
      if (!last || entries.length < asked) return;
      left -= entries.length;
      if (reverse) end = last.key;
      else start = boundAfter(last.key, 0x00);
      const bytes = entries.reduce((sum, { value }) => sum + value.length, 1);
      const fitting = Math.floor(entries.length * BATCH_BYTES / bytes);
      size = Math.max(1, Math.min(fitting, size * 4, batchSize, LARGEST_BATCH));
    }
  }

  atomic(): KvAtomic {
    return new RemoteAtomic(this.#client);
  }

  close(): void {
    this.#client.close();
  }
}

class RemoteAtomic implements KvAtomic {
  #client: KvConnectClient;
  #checks: WireCheck[] = [];
  /** By the key, as the last change of a key is the one that holds. */
  #mutations = new Map<string, WireMutation>();

  constructor(client: KvConnectClient) {
    this.#client = client;
  }

  check(...checks: { key: KvKey; versionstamp: string | null }[]): KvAtomic {
    for (const { key, versionstamp } of checks) {
      const stamp = versionstamp === null ? undefined : Uint8Array.fromHex(versionstamp);
      this.#checks.push({ key: encodeKey(key), versionstamp: stamp });
    }
    return this;
  }

  set(key: KvKey, value: unknown): KvAtomic {
    return this.#change({
      key: encodeKey(key),
      value: value instanceof Uint8Array
        ? { data: Uint8Array.from(value), encoding: "bytes" }
        : { data: Uint8Array.from(serialize(value)), encoding: "v8" },
    });
  }

  delete(key: KvKey): KvAtomic {
    return this.#change({ key: encodeKey(key) });
  }

  async commit(): Promise<{ readonly ok: boolean; readonly versionstamp?: string }> {
    const mutations = [...this.#mutations.values()];
    const { output, repeated } = await this.#client.call(
      "atomic_write",
      encodeAtomicWrite(this.#checks, mutations),
      decodeAtomicWrite,
    );
    switch (output.type) {
      case "written":
        return { ok: true, versionstamp: output.versionstamp.toHex() };
      case "check_failed": {
        const written = repeated ? await wasWritten(this.#client, mutations) : undefined;
        return written === undefined ? { ok: false } : { ok: true, versionstamp: written };
      }
      case "disabled":
      case "refused":
        throw new StoreUnavailableError("Cannot write to the session store: the server refused");
      default: {
        const never: never = output;
        throw new TypeError(`Unknown answer to a write: ${JSON.stringify(never)}`);
      }
    }
  }

  #change(mutation: WireMutation): KvAtomic {
    const name = mutation.key.toHex();
    this.#mutations.delete(name);
    this.#mutations.set(name, mutation);
    return this;
  }
}

/**
 * The versionstamp of a write whose answer was lost: a try after it fails its checks because of
 * it. It was done when all of it is there, of one commit.
 */
async function wasWritten(
  client: KvConnectClient,
  mutations: readonly WireMutation[],
): Promise<string | undefined> {
  const found = await read(client, mutations.map(({ key }) => key));
  let versionstamp: string | undefined;
  for (const [index, { value }] of mutations.entries()) {
    const stored = found[index];
    if (!value && !stored) continue;
    if (!value || !stored || stored.encoding !== value.encoding) return undefined;
    const stamp = stored.versionstamp.toHex();
    versionstamp ??= stamp;
    if (stamp !== versionstamp || !isEqual(stored.value, value.data)) return undefined;
  }
  return versionstamp;
}

async function read(
  client: KvConnectClient,
  keys: readonly Bytes[],
): Promise<(StoredEntry | undefined)[]> {
  const found: (StoredEntry | undefined)[] = [];
  for (let from = 0; from < keys.length; from += MAX_RANGES) {
    const ranges = keys.slice(from, from + MAX_RANGES).map((key): ReadRange => ({
      start: key,
      end: boundAfter(key, 0x00),
      limit: 1,
      reverse: false,
    }));
    found.push(...(await readRanges(client, ranges)).map(([entry]) => entry));
  }
  return found;
}

async function readRanges(
  client: KvConnectClient,
  ranges: readonly ReadRange[],
): Promise<readonly (readonly StoredEntry[])[]> {
  const { output } = await client.call(
    "snapshot_read",
    encodeSnapshotRead(ranges),
    decodeSnapshotRead,
  );
  if (output.type === "read" && output.ranges.length === ranges.length) return output.ranges;
  throw new StoreUnavailableError(
    "Cannot read from the session store: the server did not answer what it was asked",
  );
}

function bounds(selector: KvSelector): { start: Bytes; end: Bytes } {
  if (!("prefix" in selector)) {
    return { start: encodeKey(selector.start), end: encodeKey(selector.end) };
  }
  const prefix = encodeKey(selector.prefix);
  return {
    start: selector.start ? encodeKey(selector.start) : boundAfter(prefix, 0x00),
    end: selector.end ? encodeKey(selector.end) : boundAfter(prefix, 0xff),
  };
}

function decodeEntry({ key, value, encoding, versionstamp }: StoredEntry): KvEntry {
  return {
    key: decodeKey(key),
    value: decodeValue(value, encoding),
    versionstamp: versionstamp.toHex(),
  };
}

function decodeValue(value: Bytes, encoding: StoredEntry["encoding"]): unknown {
  switch (encoding) {
    case "bytes":
      // A copy: the rest of the answer must not live as long as one value of it.
      return value.slice();
    case "v8":
      return deserialize(value);
    case "le64":
      return new DataView(value.buffer, value.byteOffset).getBigUint64(0, true);
    default: {
      const never: never = encoding;
      throw new TypeError(`Unknown encoding of a value: ${never}`);
    }
  }
}

function isEqual(one: Bytes, other: Bytes): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
