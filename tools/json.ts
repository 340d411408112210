/** A JSON value (RFC 8259): what survives `JSON.stringify` and `JSON.parse` unchanged. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | JsonObject;

/** A JSON object (RFC 8259). */
export interface JsonObject {
  /** A member. `undefined` stands for an absent one. */
  readonly [key: string]: Json | undefined;
}

/** An escape that `JSON.stringify` writes only for half of a surrogate pair. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/**
 * Puts U+FFFD where a JSON text made by `JSON.stringify` holds half of a surrogate pair, which
 * strict parsers refuse (RFC 8259 section 8.2).
 */
export function wellFormedJson(text: string): string {
  return text.includes("\\ud") ? text.replace(LONE_SURROGATE, "$1\\ufffd") : text;
}
