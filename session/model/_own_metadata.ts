/** What this adapter itself keeps in the metadata of reasoning, beside what a provider keeps. */
import type { JsonObject } from "../../tools/mod.ts";
import type { AssistantPart } from "../events.ts";

/** The key that no provider uses. */
const KEY = "dsh";

/** Facts about an answer that the next request needs. */
export interface OwnMetadata {
  /**
   * The field a server streamed its reasoning in. It is the one it takes back: Groq, for one,
   * refuses a request that has the other.
   */
  readonly reasoningField?: "reasoning";
  /** What the provider wants back with a call, by call id: Gemini signs its calls. */
  readonly toolCalls?: Readonly<Record<string, JsonObject>>;
}

/** Packs the facts for a `reasoning_metadata` part. */
export function packOwn(own: OwnMetadata): JsonObject {
  return { [KEY]: { ...own } };
}

/** The facts that the parts of an answer carry. */
export function ownMetadata(parts: readonly AssistantPart[]): OwnMetadata {
  const found = parts.map((part) => part.type === "reasoning" ? part.metadata?.[KEY] : undefined);
  return Object.assign({}, ...found);
}
