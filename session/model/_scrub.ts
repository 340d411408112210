/** Makes text from outside fit to be shown: one bounded line without secrets. */
import type { Secret } from "./secret.ts";

const HIDDEN = "[key]";
const MAX_LENGTH = 300;
/** A shorter key is no secret worth a mangled message, such as the `x` that local servers ask for. */
const MIN_KEY_LENGTH = 4;
/** Providers show the ends of a key: that many characters in common with it hide a whole word. */
const FRAGMENT_LENGTH = 8;

/** Removes the key in use, whatever looks like a key, and credentials in URLs. */
export function scrub(text: string, key: Secret | undefined): string {
  return hideKey(text, key?.reveal() ?? "")
    .replace(/\b(?:sk|pk|rk|gsk|xai)[-_][\w*.-]{4,}/gi, HIDDEN)
    .replace(/(\b(?:bearer|basic)\s+)[\w+/=.~*-]{6,}/gi, `$1${HIDDEN}`)
    // The masked form that leaves the last characters readable.
    .replace(/\*{3,}[\w-]*/g, HIDDEN)
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, "$1");
}

/** One line of at most 300 characters. */
export function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  if (line.length <= MAX_LENGTH) return line;
  return `${line.slice(0, MAX_LENGTH - 1).toWellFormed()}…`;
}

function hideKey(text: string, key: string): string {
  if (key.length < MIN_KEY_LENGTH) return text;
  let hidden = text.replaceAll(key, HIDDEN).replaceAll(encodeURIComponent(key), HIDDEN);
  if (key.length < FRAGMENT_LENGTH * 2) return hidden;
  const ends = [key.slice(0, FRAGMENT_LENGTH), key.slice(-FRAGMENT_LENGTH)];
  hidden = hidden.replace(/\S+/g, (word) => {
    return ends.some((end) => word.includes(end)) ? HIDDEN : word;
  });
  return hidden;
}
