/**
 * A KV Connect server on loopback, for tests: protocol version 1 to 3, metadata exchange,
 * `snapshot_read` and `atomic_write` (checks, sets and deletes) over a map in memory. No watch,
 * queues, sums or redirects.
 */
import {
  allBytes,
  type Field,
  type Fields,
  message,
  oneBytes,
  oneNumber,
  readFields,
} from "./_protobuf.ts";

/** What a request asks for. */
export type KvCall = "metadata" | "snapshot_read" | "atomic_write";

/**
 * What happens to a request instead of an ordinary answer: a status; no answer at all; or, for
 * `lose`, the call is done and the connection breaks before its answer.
 */
export type KvFault = { readonly status: number; readonly body?: string } | "hang" | "lose";

/** A request as it came. */
export interface KvRequest {
  readonly call: KvCall;
  readonly headers: Headers;
}

/** Options of {@linkcode KvConnectServer.start}. */
export interface KvConnectServerOptions {
  /** What clients have to present. @default {"test-access-token"} */
  readonly token?: string;
  /** The protocol versions it speaks. @default {[1, 2, 3]} */
  readonly versions?: readonly number[];
  /** Answers in its own version though the client offers others. @default {false} */
  readonly careless?: boolean;
  /** Decides on each request before it is done; undefined lets it pass. */
  readonly fault?: (request: KvRequest) => KvFault | undefined;
  /** How long its metadata is good for, in milliseconds. @default {3_600_000} */
  readonly expiresIn?: number;
}

interface Stored {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly value: Uint8Array<ArrayBuffer>;
  readonly encoding: number;
  readonly versionstamp: Uint8Array<ArrayBuffer>;
}

const DATABASE_ID = "8f4b0b52-1a0c-4b3d-9c55-3f1f1d7a2b10";
const PROTOBUF = { "content-type": "application/x-protobuf" };
const AW_SUCCESS = 1;
const AW_CHECK_FAILURE = 2;
const SR_SUCCESS = 1;
const M_SET = 1;
const M_DELETE = 2;

/** The server. It keeps its data and its port while it is stopped. */
export class KvConnectServer implements AsyncDisposable {
  /** Every request since the start. */
  readonly requests: KvRequest[] = [];
  /** As in the options; may be replaced at any time. */
  fault: KvConnectServerOptions["fault"];
  /** Turns away who presents another one. May be replaced at any time. */
  token: string;
  #options: KvConnectServerOptions;
  #entries = new Map<string, Stored>();
  #sorted: string[] | undefined;
  #commits = 0n;
  #port = 0;
  #server: Deno.HttpServer | undefined;
  #stopped = new AbortController();
  /** Good until the server starts again: a client has to fetch a new one. */
  #dataToken = "";

  private constructor(options: KvConnectServerOptions) {
    this.#options = options;
    this.fault = options.fault;
    this.token = options.token ?? "test-access-token";
  }

  /** Starts a server on a free port of 127.0.0.1. */
  static start(options: KvConnectServerOptions = {}): KvConnectServer {
    const server = new KvConnectServer(options);
    server.resume();
    return server;
  }

  /** What to open. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** How many commits there were. */
  get commits(): number {
    return Number(this.#commits);
  }

  /** How many keys hold a value. */
  get size(): number {
    return this.#entries.size;
  }

  /** Breaks all connections and refuses new ones. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#server?.finished;
    this.#server = undefined;
  }

  /** Serves again, on the same port and with the same data. */
  resume(): void {
    this.#stopped = new AbortController();
    this.#dataToken = crypto.randomUUID();
    const { signal } = this.#stopped;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: this.#port, signal, onListen: () => {} },
      (request) => this.#handle(request, signal),
    );
    this.#port = (this.#server.addr as Deno.NetAddr).port;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #handle(request: Request, stopped: AbortSignal): Promise<Response> {
    const body = await request.bytes();
    const call = callOf(new URL(request.url).pathname);
    if (request.method !== "POST" || !call) return new Response("no such call", { status: 404 });
    const seen = { call, headers: request.headers };
    this.requests.push(seen);
    const fault = this.fault?.(seen);
    if (fault === "hang") {
      await new Promise((resolve) => stopped.addEventListener("abort", resolve, { once: true }));
      return new Response("stopped", { status: 503 });
    }
    if (fault !== undefined && fault !== "lose") {
      return new Response(fault.body ?? "fault", { status: fault.status });
    }
    const response = call === "metadata"
      ? this.#metadata(request, body)
      : this.#data(call, request, body);
    if (fault !== "lose") return response;
    // Less than it announces, and the connection ends.
    return new Response(new Blob([]).stream(), {
      headers: { ...PROTOBUF, "content-length": "100" },
    });
  }

  #metadata({ headers }: Request, body: Uint8Array): Response {
    if (headers.get("authorization") !== `Bearer ${this.token}`) {
      return new Response("Invalid access token.", { status: 401 });
    }
    const asked = body.length === 0 ? {} : JSON.parse(new TextDecoder().decode(body));
    const offered: number[] = asked.supportedVersions ?? [1];
    const spoken = this.#options.versions ?? [1, 2, 3];
    const common = spoken.filter((one) => this.#options.careless || offered.includes(one));
    const version = Math.max(...common);
    if (!Number.isFinite(version)) {
      return new Response("Could not negotiate a protocol version.", { status: 400 });
    }
    return Response.json({
      version,
      databaseId: DATABASE_ID,
      endpoints: [{ url: version === 1 ? `${this.url}/data` : "/data", consistency: "strong" }],
      token: this.#dataToken,
      expiresAt: new Date(Date.now() + (this.#options.expiresIn ?? 3_600_000)).toISOString(),
    });
  }

  #data(call: KvCall, { headers }: Request, body: Uint8Array<ArrayBuffer>): Response {
    if (headers.get("authorization") !== `Bearer ${this.#dataToken}`) {
      return new Response("Invalid access token.", { status: 401 });
    }
    const version = headers.get("x-denokv-version");
    const id = headers.get(version === null ? "x-transaction-domain-id" : "x-denokv-database-id");
    if (id !== DATABASE_ID) return new Response("Invalid database id.", { status: 400 });
    const fields = readFields(body);
    const answer = call === "snapshot_read" ? this.#read(fields) : this.#write(fields);
    return typeof answer === "string"
      ? new Response(answer, { status: 400 })
      : new Response(answer, { headers: PROTOBUF });
  }

  #read(fields: Fields): Uint8Array<ArrayBuffer> | string {
    const ranges = allBytes(fields, 1).map(readFields);
    if (ranges.length > 10) return "Too many read ranges requested in one read request.";
    const outputs: Field[] = [];
    for (const range of ranges) {
      const limit = oneNumber(range, 3);
      if (limit <= 0 || limit > 1_000) return "The read range limit is invalid.";
      const start = hex(oneBytes(range, 1));
      const end = hex(oneBytes(range, 2));
      let found = this.#keys().filter((key) => key >= start && key < end);
      if (oneNumber(range, 4) === 1) found = found.reverse();
      const values = found.slice(0, limit).map((name): Field => {
        const { key, value, encoding, versionstamp } = this.#entries.get(name)!;
        return [1, message([1, key], [2, value], [3, encoding], [4, versionstamp])];
      });
      outputs.push([1, message(...values)]);
    }
    return message(...outputs, [4, true], [8, SR_SUCCESS]);
  }

  #write(fields: Fields): Uint8Array<ArrayBuffer> | string {
    const checks = allBytes(fields, 1).map(readFields);
    const mutations = allBytes(fields, 2).map(readFields);
    if (checks.length > 10) return "Too many checks included in atomic write.";
    if (mutations.length > 1_000) return "Too many mutations / enqueues included in atomic write.";
    let size = 0;
    for (const mutation of mutations) {
      const [key, value] = [oneBytes(mutation, 1), oneBytes(readFields(oneBytes(mutation, 2)), 1)];
      if (key.length > 2_048) return "A key exceeds the key size limit.";
      if (value.length > 65_536) return "A value exceeds the value size limit.";
      if (![M_SET, M_DELETE].includes(oneNumber(mutation, 3))) return "Invalid mutation kind.";
      size += key.length + value.length;
    }
    if (size > 819_200) return "The total size of the atomic write is too large.";
    const failed = checks.filter((check) => {
      const stored = this.#entries.get(hex(oneBytes(check, 1)));
      return hex(stored?.versionstamp ?? new Uint8Array()) !== hex(oneBytes(check, 2));
    });
    if (failed.length > 0) return message([1, AW_CHECK_FAILURE]);
    const versionstamp = new Uint8Array(10);
    new DataView(versionstamp.buffer).setBigUint64(0, ++this.#commits);
    for (const mutation of mutations) {
      const key = oneBytes(mutation, 1);
      const value = readFields(oneBytes(mutation, 2));
      if (oneNumber(mutation, 3) === M_DELETE) this.#entries.delete(hex(key));
      else {
        this.#entries.set(hex(key), {
          key,
          value: oneBytes(value, 1),
          encoding: oneNumber(value, 2),
          versionstamp,
        });
      }
    }
    this.#sorted = undefined;
    return message([1, AW_SUCCESS], [2, versionstamp]);
  }

  #keys(): string[] {
    return this.#sorted ??= [...this.#entries.keys()].sort();
  }
}

function callOf(path: string): KvCall | undefined {
  switch (path) {
    case "/":
      return "metadata";
    case "/data/snapshot_read":
      return "snapshot_read";
    case "/data/atomic_write":
      return "atomic_write";
    default:
      return undefined;
  }
}

/** Orders as the bytes do. */
function hex(bytes: Uint8Array): string {
  return bytes.toHex();
}
