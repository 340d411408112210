/** Cuts of UTF-8 text that never split a character. */

const encoder = new TextEncoder();

/** How many bytes `text` takes in UTF-8. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}

/** The longest start of `text` that takes at most `bytes` bytes. */
export function utf8Head(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(bytes)).read);
}

/** The longest end of `text` that takes at most `bytes` bytes. */
export function utf8Tail(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const encoded = encoder.encode(text);
  if (encoded.length <= bytes) return text;
  return new TextDecoder().decode(encoded.subarray(boundaryFrom(encoded, encoded.length - bytes)));
}

/** The first index from `index` on at which a character begins (at most 3 bytes further). */
export function boundaryFrom(bytes: Uint8Array, index: number): number {
  let at = index;
  while (at < bytes.length && at < index + 3 && isContinuation(bytes[at])) at++;
  return at;
}

/**
 * An index near `index` at which a character begins: up to 3 bytes before, or after it where the
 * bytes before belong to a character that began in an earlier chunk.
 */
export function boundaryNear(bytes: Uint8Array, index: number): number {
  if (index >= bytes.length) return bytes.length;
  let at = index;
  while (at > 0 && at > index - 3 && isContinuation(bytes[at])) at--;
  return isContinuation(bytes[at]) ? boundaryFrom(bytes, index) : at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
