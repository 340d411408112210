/** Calls to a KV Connect server, each with a deadline (denoland/denokv, `proto/kv-connect.md`). */
import { Secret } from "./model/secret.ts";
import { StoreUnavailableError } from "./store_errors.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Where a server is and how long to wait for it. */
export interface KvConnectOptions {
  /** The URL of the metadata exchange. */
  readonly url: URL;
  /** What the server lets in. */
  readonly token: Secret;
  /** How long one call may take, repetitions included, in milliseconds. */
  readonly timeoutMs: number;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** A call of the data path. */
export type DataCall = "snapshot_read" | "atomic_write";

/** An answer of the data path. */
export interface DataAnswer<Output> {
  readonly output: Output;
  /** Whether an earlier try may have reached the server: a write may have been done by it. */
  readonly repeated: boolean;
}

interface Metadata {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: Secret;
  /** In milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

const VERSIONS: readonly number[] = [2, 3];
/** A server that was down is asked for no longer than this until it answers, in milliseconds. */
const PROBE_MS = 2_000;
const MAX_REDIRECTS = 5;
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1_000;
/** Metadata is not used in its last seconds, as clocks differ. */
const EXPIRY_MARGIN_MS = 10_000;

/** A failure that another try may not have. */
class PassingFailure extends Error {}

/** Speaks to one server. */
export class KvConnectClient {
  #options: KvConnectOptions;
  #metadata: Metadata | undefined;
  #closed = new AbortController();
  #down = false;
  /** The token of the data path too, once there is one: neither may be in a message. */
  #secrets: Secret[];

  /** Does not connect; {@linkcode KvConnectClient.connect} does. */
  constructor(options: KvConnectOptions) {
    this.#options = options;
    this.#secrets = [options.token];
  }

  /**
   * The metadata exchange, in one try.
   *
   * @throws {StoreUnavailableError} If the server cannot be reached, or refuses.
   */
  async connect(): Promise<void> {
    const deadline = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      this.#metadata = await this.#exchange(deadline);
    } catch (error) {
      throw this.#unavailable(error, deadline);
    }
  }

  /**
   * One call of the data path. It is repeated while the server is away, up to the deadline.
   *
   * @param decode Reads an answer; it is `disabled` where the endpoint does not do that now.
   * @throws {StoreUnavailableError} If the server cannot be reached in time, or refuses.
   */
  async call<Output extends { readonly type: string }>(
    method: DataCall,
    body: Bytes,
    decode: (answer: Bytes) => Output,
  ): Promise<DataAnswer<Output>> {
    const { timeoutMs } = this.#options;
    const deadline = AbortSignal.timeout(this.#down ? Math.min(PROBE_MS, timeoutMs) : timeoutMs);
    let repeated = false;
    let lastFailure: unknown;
    for (let delay = FIRST_DELAY_MS;; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
      try {
        const output = decode(await this.#try(method, body, deadline));
        if (output.type === "disabled") {
          this.#metadata = undefined;
          throw new PassingFailure(`the server does not serve ${method} now`);
        }
        this.#down = false;
        return { output, repeated };
      } catch (error) {
        if (!(error instanceof PassingFailure)) {
          this.#down = deadline.aborted;
          // Why the tries before failed says more than that time is over.
          const reason = error === deadline.reason ? lastFailure ?? error : error;
          throw this.#unavailable(reason, deadline);
        }
        lastFailure = error;
        repeated = true;
      }
      if (!await pause(delay * (0.5 + Math.random() / 2), this.#until(deadline))) {
        this.#down = deadline.aborted;
        throw this.#unavailable(lastFailure, deadline);
      }
    }
  }

  /** Ends the calls that are open. */
  close(): void {
    this.#closed.abort(new Error("the store was closed"));
  }

  #until(deadline: AbortSignal): AbortSignal {
    return AbortSignal.any([deadline, this.#closed.signal]);
  }

  async #try(method: DataCall, body: Bytes, deadline: AbortSignal): Promise<Bytes> {
    if (!this.#metadata || this.#metadata.expiresAt <= this.#options.now()) {
      this.#metadata = await this.#exchange(deadline);
    }
    const { endpoint, headers, token } = this.#metadata;
    const response = await this.#post(
      new URL(`${endpoint}/${method}`),
      { ...headers, "authorization": `Bearer ${token.reveal()}` },
      body,
      deadline,
    );
    if (response.status === 200) return response.body;
    const isStale = response.status === 401 || response.status === 403;
    // The token of the data path is younger than the one of the person: a new one may do.
    if (isStale) this.#metadata = undefined;
    const failure = `the server answered ${method} with status ${describe(response)}`;
    throw isStale || response.status >= 500 ? new PassingFailure(failure) : new Error(failure);
  }

  async #exchange(deadline: AbortSignal): Promise<Metadata> {
    let { url } = this.#options;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await this.#post(
        url,
        {
          "authorization": `Bearer ${this.#options.token.reveal()}`,
          "content-type": "application/json",
        },
        new TextEncoder().encode(JSON.stringify({ supportedVersions: VERSIONS })),
        deadline,
      );
      if (response.location !== undefined) {
        const target = URL.parse(response.location, url);
        // Elsewhere is somebody else, who must not get the token.
        if (target?.origin !== url.origin) {
          throw new Error(`the server redirects to ${target?.origin ?? "an invalid URL"}`);
        }
        url = target;
        continue;
      }
      return this.#readMetadata(response, url);
    }
    throw new Error(`the server redirects more than ${MAX_REDIRECTS} times`);
  }

  #readMetadata(response: Answer, url: URL): Metadata {
    if (response.status === 401 || response.status === 403) {
      throw new Error(
        `the server refused the token of DENO_KV_ACCESS_TOKEN (status ${describe(response)})`,
      );
    }
    if (response.status !== 200) {
      const failure = `the server answered with status ${describe(response)}`;
      throw response.status >= 500 ? new PassingFailure(failure) : new Error(failure);
    }
    const { version, databaseId, endpoints, token, expiresAt } = parseObject(response.body);
    if (typeof version === "number" && !VERSIONS.includes(version)) {
      throw new Error(
        `the server speaks version ${version} of KV Connect, and this program ${
          VERSIONS.join(" and ")
        }`,
      );
    }
    const strong = Array.isArray(endpoints)
      ? endpoints.find((one) => one?.consistency === "strong")?.url
      : undefined;
    const endpoint = typeof strong === "string" ? URL.parse(strong, url) : null;
    const expiry = typeof expiresAt === "string" ? Date.parse(expiresAt) : NaN;
    if (
      typeof version !== "number" || typeof databaseId !== "string" || typeof token !== "string" ||
      !isHeaderText(databaseId) || !isHeaderText(token) || !endpoint || Number.isNaN(expiry)
    ) {
      throw new Error("no KV Connect server is there: the answer is not its metadata");
    }
    if (!isPrivate(endpoint)) {
      throw new Error(`its data is at ${endpoint.origin}, which is not https`);
    }
    const secret = new Secret(token);
    this.#secrets = [this.#options.token, secret];
    return {
      endpoint: endpoint.href.replace(/\/$/, ""),
      headers: {
        "content-type": "application/x-protobuf",
        "x-denokv-database-id": databaseId,
        "x-denokv-version": String(version),
      },
      token: secret,
      expiresAt: Math.max(expiry - EXPIRY_MARGIN_MS, this.#options.now() + 1_000),
    };
  }

  async #post(
    url: URL,
    headers: Record<string, string>,
    body: Bytes,
    deadline: AbortSignal,
  ): Promise<Answer> {
    const signal = this.#until(deadline);
    try {
      const response = await fetch(url, {
        method: "POST",
        redirect: "manual",
        headers,
        body,
        signal,
      });
      const location = response.status >= 300 && response.status < 400
        ? response.headers.get("location") ?? undefined
        : undefined;
      const { status } = response;
      return { status, body: await response.bytes(), location };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof TypeError ? new PassingFailure(reasonOf(error)) : error;
    }
  }

  #unavailable(error: unknown, deadline: AbortSignal): StoreUnavailableError {
    const isTimeout = error === deadline.reason;
    let reason = isTimeout ? "the server does not answer" : reasonOf(error);
    for (const secret of this.#secrets) reason = reason.replaceAll(secret.reveal(), `${secret}`);
    return new StoreUnavailableError(
      `Cannot reach the session store at ${shownUrl(this.#options.url)}: ${reason}`,
    );
  }
}

/** Whether nobody on the way can read what is sent there. */
export function isPrivate({ protocol, hostname }: URL): boolean {
  const isLoopback = hostname === "localhost" || hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isLoopback);
}

/** A URL without what may be a secret. */
export function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname === "/" ? "" : pathname}`;
}

/** Whether a text can be the value of a header. */
export function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

interface Answer {
  readonly status: number;
  readonly body: Bytes;
  /** Where it redirects to. */
  readonly location: string | undefined;
}

function describe({ status, body }: Answer): string {
  const [line = ""] = new TextDecoder().decode(body.subarray(0, 800)).trim().split("\n");
  // A page of some other server says nothing.
  const text = line.startsWith("<") ? "" : line.slice(0, 200);
  return text === "" ? String(status) : `${status}: ${text}`;
}

function parseObject(body: Bytes): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // No JSON: then nothing of what is looked for is in it.
  }
  return {};
}

/** What fetch() knows of a connection that failed is in the cause, after the URL. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const whole = error.cause instanceof Error ? error.cause.message : error.message;
  const [line = ""] = whole.split("\n");
  return /client error \(\w+\): (.+)/.exec(line)?.[1] ?? line;
}

/** Resolves with false when the signal comes first. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = () => {
    clearTimeout(timer);
    resolve(false);
  };
  const timer = setTimeout(() => {
    signal.removeEventListener("abort", stop);
    resolve(true);
  }, ms);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return promise;
}
