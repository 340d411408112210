/** The longest text of a server's that is quoted to a person, in UTF-16 code units. */
const LONGEST = 300;

/**
 * A server's text as part of a sentence for a person: on one line, of bounded length, without what
 * could make it look like something else (control characters, and marks that turn the direction).
 */
export function printable(text: string): string {
  const plain = text.slice(0, LONGEST + 1).replace(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
  return (plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain).toWellFormed();
}
