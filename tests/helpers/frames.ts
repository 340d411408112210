/** What goes over the wire, as tests look at it. */
import type { Json, JsonObject } from "../../tools/json.ts";

/** One line the agent wrote to stdout. */
export interface Frame {
  /** Counted from 0, in the order of the wire. */
  readonly index: number;
  /** `performance.now()` when the line was complete. */
  readonly at: number;
  readonly line: string;
  /** The parsed line; null where it is no JSON object. */
  readonly message: JsonObject | null;
}

/** A `session/update`. */
export interface UpdateFrame extends Frame {
  readonly sessionId: string;
  readonly update: JsonObject;
}

/** A JSON-RPC error object. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** What a request came to, and where its answer stands on the wire. */
export type Answer =
  | {
    readonly type: "result";
    readonly result: JsonObject;
    readonly at: number;
    readonly index: number;
  }
  | {
    readonly type: "error";
    readonly error: RpcError;
    readonly at: number;
    readonly index: number;
  };

/** A request that was answered with an error. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: Json | undefined;

  constructor(method: string, error: RpcError) {
    super(`"${method}" was answered with ${error.code}: ${error.message}`);
    this.name = "RpcFailure";
    this.code = error.code;
    this.data = error.data;
  }
}

/** Tells whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of an object as an object, or an empty one. */
export function member(value: Json | undefined, ...path: readonly string[]): JsonObject {
  let at = value;
  for (const key of path) at = isJsonObject(at) ? at[key] : undefined;
  return isJsonObject(at) ? at : {};
}

/** A line as a JSON object, or null. */
export function parseFrame(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : null;
  } catch {
    // A line that is no JSON is data here: the judge reports it.
    return null;
  }
}

/** A line short enough for an error message. */
export function clip(line: string): string {
  return line.length > 500 ? `${line.slice(0, 500)}… (${line.length} characters)` : line;
}

/** A frame as a session update, or undefined if it is another frame. */
export function asUpdate(frame: Frame): UpdateFrame | undefined {
  if (frame.message?.["method"] !== "session/update") return undefined;
  const params = member(frame.message, "params");
  const sessionId = params["sessionId"];
  if (typeof sessionId !== "string") return undefined;
  return { ...frame, sessionId, update: member(params, "update") };
}

/**
 * Joins what differs only by how it was cut: message and thought chunks that follow one another,
 * and the terminal output of a call, which moves into that call's next other update. Two runs that
 * say the same are equal afterwards, however their output was coalesced.
 */
export function mergeChunks(updates: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = [];
  const held = new Map<string, JsonObject>();
  for (const update of updates) {
    const previous = merged.at(-1);
    const callId = update["toolCallId"];
    if (update["sessionUpdate"] === "tool_call_update" && typeof callId === "string") {
      const earlier = held.get(callId);
      const whole = earlier ? joinOutput(earlier, update) : update;
      if (isOutputOnly(whole)) {
        held.set(callId, whole);
      } else {
        held.delete(callId);
        merged.push(whole);
      }
    } else if (previous && sameChunk(previous, update)) {
      const text = `${textOf(previous)}${textOf(update)}`;
      merged[merged.length - 1] = { ...update, content: { ...member(update, "content"), text } };
    } else {
      merged.push(update);
    }
  }
  return [...merged, ...held.values()];
}

/** Whether an update lists what can be typed: it says nothing of what happened. */
export function isCommandList(update: JsonObject): boolean {
  return update["sessionUpdate"] === "available_commands_update";
}

/** The text of all chunks of one kind, joined. */
export function chunkText(updates: readonly JsonObject[], kind = "agent_message_chunk"): string {
  return updates.filter((update) => update["sessionUpdate"] === kind).map(textOf).join("");
}

/** The terminal output of one call, joined, whichever of the two keys carried it. */
export function terminalOutput(updates: readonly JsonObject[], callId?: string): string {
  return updates.filter((update) => callId === undefined || update["toolCallId"] === callId)
    .map((update) => OUTPUT_KEYS.map((key) => outputOf(update, key) ?? "").join("")).join("");
}

const OUTPUT_KEYS: readonly string[] = ["terminal_output", "terminal_output_delta"];

const CHUNKS: readonly unknown[] = [
  "user_message_chunk",
  "agent_message_chunk",
  "agent_thought_chunk",
];

function sameChunk(one: JsonObject, two: JsonObject): boolean {
  return CHUNKS.includes(two["sessionUpdate"]) &&
    one["sessionUpdate"] === two["sessionUpdate"] && one["messageId"] === two["messageId"] &&
    member(one, "content")["type"] === "text" && member(two, "content")["type"] === "text";
}

function textOf(update: JsonObject): string {
  const text = member(update, "content")["text"];
  return typeof text === "string" ? text : "";
}

function outputOf(update: JsonObject, key: string): string | undefined {
  const data = member(update, "_meta", key)["data"];
  return typeof data === "string" ? data : undefined;
}

/** Whether an update says nothing but what a terminal printed. */
function isOutputOnly(update: JsonObject): boolean {
  const keys = Object.keys(update).filter((key) => update[key] !== undefined);
  const meta = Object.keys(member(update, "_meta"));
  return keys.length === 3 && keys.includes("_meta") &&
    meta.length === 1 && OUTPUT_KEYS.includes(meta[0] ?? "");
}

function joinOutput(earlier: JsonObject, later: JsonObject): JsonObject {
  const meta: Record<string, Json | undefined> = { ...member(later, "_meta") };
  for (const key of OUTPUT_KEYS) {
    const data = outputOf(earlier, key);
    if (data === undefined) continue;
    meta[key] = { ...member(earlier, "_meta", key), data: data + (outputOf(later, key) ?? "") };
  }
  return { ...later, _meta: meta };
}
