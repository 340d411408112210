/** The vocabulary in which a test scripts what the model answers. */
import type { JsonObject } from "../../tools/json.ts";

/** One thing that happens in an answer, in order. */
export type ModelStep =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** A tool call; the arguments leave in these pieces. */
  | {
    readonly type: "call";
    readonly id: string;
    readonly name: string;
    readonly pieces: readonly string[];
  }
  /** Holds the stream until the promise settles or the client goes away. */
  | { readonly type: "wait"; readonly until: Promise<unknown> }
  /** Breaks the connection in the middle of the answer. */
  | { readonly type: "drop" }
  /** Sends these characters as they are. */
  | { readonly type: "raw"; readonly text: string };

/** Token counts as the server reports them. */
export interface ModelUsage {
  readonly prompt: number;
  readonly completion: number;
  /** Part of `prompt` that came from the cache. @default {0} */
  readonly cached?: number;
  /** Part of `completion` that was reasoning. @default {0} */
  readonly reasoning?: number;
}

/** Why an answer ended, in the words of the chat completions API. */
export type ModelFinish = "stop" | "length" | "tool_calls" | "content_filter";

/** One scripted answer. */
export type ModelTurn =
  | {
    readonly type: "stream";
    readonly steps: readonly ModelStep[];
    readonly finish: ModelFinish;
    readonly usage: ModelUsage;
  }
  | {
    readonly type: "reply";
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }
  /** Never answers. */
  | { readonly type: "hang" };

/** A piece of visible text. */
export function text(text: string): ModelStep {
  return { type: "text", text };
}

/** A piece of reasoning (`reasoning_content`). */
export function reasoning(text: string): ModelStep {
  return { type: "reasoning", text };
}

/** A tool call. Arguments given as an array leave in those pieces, others in one. */
export function call(
  id: string,
  name: string,
  args: JsonObject | string | readonly string[],
): ModelStep {
  const pieces = Array.isArray(args)
    ? args as readonly string[]
    : [typeof args === "string" ? args : JSON.stringify(args)];
  return { type: "call", id, name, pieces };
}

/** Holds the stream until `until` settles. */
export function wait(until: Promise<unknown>): ModelStep {
  return { type: "wait", until };
}

/** Breaks the connection. */
export function drop(): ModelStep {
  return { type: "drop" };
}

/** Raw characters, for example an event that is not JSON. */
export function raw(text: string): ModelStep {
  return { type: "raw", text };
}

/** An answer of these steps. It ends in `tool_calls` where it has a call, otherwise in `stop`. */
export function answer(...steps: readonly ModelStep[]): ModelTurn {
  const finish = steps.some((step) => step.type === "call") ? "tool_calls" : "stop";
  return { type: "stream", steps, finish, usage: { prompt: 10, completion: 5 } };
}

/** The same answer with another end or other token counts. */
export function ending(
  turn: ModelTurn,
  end: { readonly finish?: ModelFinish; readonly usage?: ModelUsage },
): ModelTurn {
  return turn.type === "stream" ? { ...turn, ...end } : turn;
}

/** An error answer in the API's JSON. `retryAfter` is in seconds. */
export function failure(
  status: number,
  options: { readonly message?: string; readonly retryAfter?: number } = {},
): ModelTurn {
  const message = options.message ?? `The server was told to answer ${status}`;
  return {
    type: "reply",
    status,
    headers: {
      "content-type": "application/json",
      ...(options.retryAfter !== undefined && { "retry-after": String(options.retryAfter) }),
    },
    body: JSON.stringify({ error: { message, type: "error", code: status } }),
  };
}

/** A whole body that is no event stream, for example a proxy's HTML page. */
export function page(body: string, contentType = "text/html", status = 200): ModelTurn {
  return { type: "reply", status, headers: { "content-type": contentType }, body };
}

/** An answer that never comes. */
export function hang(): ModelTurn {
  return { type: "hang" };
}
