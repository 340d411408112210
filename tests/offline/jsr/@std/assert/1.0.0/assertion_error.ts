/** What every failed assertion throws. */
export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}

/** Throws: `text`, then the caller's own message where there is one. */
export function refuse(text: string, msg?: string): never {
  throw new AssertionError(msg ? `${text}: ${msg}` : text);
}

/** A value as text, whole and with its keys in order. */
export function show(value: unknown): string {
  return Deno.inspect(value, {
    depth: Infinity,
    sorted: true,
    trailingComma: true,
    compact: false,
    iterableLimit: Infinity,
    strAbbreviateSize: Infinity,
  });
}
