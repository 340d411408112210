/** A real HTTP server that plays a chat completions API (OpenAI, DeepSeek) from a script. */
import type { JsonObject } from "../../tools/json.ts";
import { failure, type ModelStep, type ModelTurn, type ModelUsage } from "./model_turn.ts";

/** A request the server received. */
export interface ModelRequest {
  /** Counted from 0. */
  readonly index: number;
  readonly path: string;
  readonly headers: Headers;
  readonly body: JsonObject;
  /** `performance.now()` on arrival. */
  readonly at: number;
  /** Whether the client left before the answer was complete. */
  readonly aborted: boolean;
  /** Settles when the client left, or when the answer was complete: tells which. */
  readonly ended: Promise<"aborted" | "complete">;
}

/** Options for {@linkcode ModelServer.start}. */
export interface ModelServerOptions {
  /** Answers by hand what the queue does not: return undefined for the usual refusal. */
  readonly respond?: (request: ModelRequest) => ModelTurn | undefined;
}

interface Entry extends ModelRequest {
  aborted: boolean;
  end(how: "aborted" | "complete"): void;
}

const MODEL = "scripted";

/**
 * Serves scripted answers on 127.0.0.1, one per request in order. A request beyond the script gets
 * a 400, which no client retries.
 *
 * @example
 * ```ts ignore
 * await using model = ModelServer.start([answer(text("Hello"))]);
 * ```
 */
export class ModelServer implements AsyncDisposable {
  /** What to give a client as base URL: it appends `/chat/completions`. */
  readonly url: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #turns: ModelTurn[];
  readonly #options: ModelServerOptions;
  readonly #requests: Entry[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #open = new Set<() => void>();

  private constructor(turns: readonly ModelTurn[], options: ModelServerOptions) {
    this.#turns = [...turns];
    this.#options = options;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#serve(request),
    );
    this.url = `http://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  static start(turns: readonly ModelTurn[] = [], options: ModelServerOptions = {}): ModelServer {
    return new ModelServer(turns, options);
  }

  /** The chat requests so far. */
  get requests(): readonly ModelRequest[] {
    return this.#requests;
  }

  /** How many scripted answers are left. */
  get left(): number {
    return this.#turns.length;
  }

  /** Appends answers to the script. */
  push(...turns: readonly ModelTurn[]): void {
    this.#turns.push(...turns);
  }

  /** Waits for the request of this index (from 0). Rejects after `timeout` milliseconds. */
  async request(index: number, timeout = 15_000): Promise<ModelRequest> {
    const deadline = AbortSignal.timeout(timeout);
    while (true) {
      const request = this.#requests[index];
      if (request) return request;
      const next = Promise.withResolvers<void>();
      const wake = () => next.resolve();
      const late = () => next.reject(new Error(`No model request ${index} within ${timeout} ms`));
      this.#waiting.add(wake);
      deadline.addEventListener("abort", late);
      try {
        await next.promise;
      } finally {
        this.#waiting.delete(wake);
        deadline.removeEventListener("abort", late);
      }
    }
  }

  /** Breaks what is still open and stops listening. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const release of this.#open) release();
    await this.#server.shutdown();
  }

  async #serve(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    if (request.method === "GET" && path.endsWith("/models")) {
      return Response.json({ object: "list", data: [{ id: MODEL, object: "model" }] });
    }
    if (request.method !== "POST" || !path.endsWith("/chat/completions")) {
      return Response.json({ error: { message: `No route ${path}` } }, { status: 404 });
    }
    const at = performance.now();
    const entry = this.#record(path, request.headers, await request.json(), at);
    const turn = this.#options.respond?.(entry) ?? this.#turns.shift() ??
      failure(400, { message: `The test scripted no answer for model request ${entry.index}` });
    switch (turn.type) {
      case "reply":
        entry.end("complete");
        return new Response(turn.body, { status: turn.status, headers: turn.headers });
      case "hang":
        return await this.#hang(request, entry);
      case "stream":
        return new Response(this.#stream(turn, entry), { headers: streamHeaders(turn) });
      default: {
        const never: never = turn;
        throw new TypeError(`Unknown turn ${JSON.stringify(never)}`);
      }
    }
  }

  #record(path: string, headers: Headers, body: JsonObject, at: number): Entry {
    const ended = Promise.withResolvers<"aborted" | "complete">();
    const entry: Entry = {
      index: this.#requests.length,
      path,
      headers,
      body,
      at,
      aborted: false,
      ended: ended.promise,
      end(how) {
        if (how === "aborted") entry.aborted = true;
        ended.resolve(how);
      },
    };
    this.#requests.push(entry);
    for (const wake of this.#waiting) wake();
    return entry;
  }

  async #hang(request: Request, entry: Entry): Promise<Response> {
    const over = Promise.withResolvers<void>();
    const release = () => over.resolve();
    request.signal.addEventListener("abort", () => {
      entry.end("aborted");
      release();
    });
    this.#open.add(release);
    await over.promise;
    this.#open.delete(release);
    return new Response(null, { status: 503 });
  }

  #stream(
    turn: Extract<ModelTurn, { type: "stream" }>,
    entry: Entry,
  ): ReadableStream<Uint8Array> {
    const gone = Promise.withResolvers<"gone">();
    const release = () => gone.resolve("gone");
    const encoder = new TextEncoder();
    const open = this.#open;
    open.add(release);
    return new ReadableStream<Uint8Array>({
      start(controller): void {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        play(turn, send, gone.promise).then((how) => {
          open.delete(release);
          if (entry.aborted) return;
          entry.end("complete");
          if (how === "over") controller.close();
          else controller.error(new Error("The model server was closed in mid-answer"));
        });
      },
      cancel(): void {
        entry.end("aborted");
        release();
      },
    });
  }
}

/** An answer that is to break announces more than it sends, which makes its end a broken one. */
function streamHeaders(turn: Extract<ModelTurn, { type: "stream" }>): HeadersInit {
  return {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    ...(turn.steps.some((step) => step.type === "drop") && { "content-length": "100000000" }),
  };
}

/** Plays the steps until they are over or the other side is gone. */
async function play(
  turn: Extract<ModelTurn, { type: "stream" }>,
  send: (text: string) => void,
  gone: Promise<"gone">,
): Promise<"over" | "gone"> {
  send(event({ role: "assistant", content: "" }));
  let calls = 0;
  for (const step of turn.steps) {
    switch (step.type) {
      case "text":
        send(event({ content: step.text }));
        break;
      case "reasoning":
        send(event({ reasoning_content: step.text }));
        break;
      case "call":
        for (const delta of callDeltas(step, calls)) send(event(delta));
        calls++;
        break;
      case "wait":
        if (await Promise.race([step.until, gone]) === "gone") return "gone";
        break;
      case "raw":
        send(step.text);
        break;
      case "drop":
        return "over";
      default: {
        const never: never = step;
        throw new TypeError(`Unknown step ${JSON.stringify(never)}`);
      }
    }
  }
  send(event({}, turn.finish));
  send(line({ ...frame(), choices: [], usage: usage(turn.usage) }));
  send("data: [DONE]\n\n");
  return "over";
}

function callDeltas(step: Extract<ModelStep, { type: "call" }>, index: number): JsonObject[] {
  const [first = "", ...rest] = step.pieces;
  return [
    {
      tool_calls: [{
        index,
        id: step.id,
        type: "function",
        function: { name: step.name, arguments: first },
      }],
    },
    ...rest.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

function frame(): JsonObject {
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: MODEL };
}

function event(delta: JsonObject, finish: string | null = null): string {
  return line({ ...frame(), choices: [{ index: 0, delta, finish_reason: finish }] });
}

function line(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function usage(counts: ModelUsage): JsonObject {
  const cached = counts.cached ?? 0;
  return {
    prompt_tokens: counts.prompt,
    completion_tokens: counts.completion,
    total_tokens: counts.prompt + counts.completion,
    prompt_cache_hit_tokens: cached,
    prompt_cache_miss_tokens: counts.prompt - cached,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: counts.reasoning ?? 0 },
  };
}
