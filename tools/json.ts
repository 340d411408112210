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
