/** A key that cannot be printed by accident. */

/**
 * Holds a secret. Printing, inspecting or serialising it gives `[secret]`; only
 * {@linkcode Secret.reveal} gives the value.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Secret } from "@dsh/acp/session";
 *
 * const key = new Secret("sk-1");
 * assertEquals(`${key} ${JSON.stringify({ key })}`, '[secret] {"key":"[secret]"}');
 * assertEquals(key.reveal(), "sk-1");
 * ```
 */
export class Secret {
  readonly #value: string;

  /** Hides this value. */
  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself, for the place that sends it. */
  reveal(): string {
    return this.#value;
  }

  /** Never the value. */
  toString(): string {
    return "[secret]";
  }

  /** Never the value. */
  toJSON(): string {
    return "[secret]";
  }
}
