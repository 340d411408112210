/** What a session is called, from what it was first asked. */
import type { PromptContent } from "./events.ts";

/** The longest title, in characters, the mark of what was cut off included. */
export const MAX_TITLE_LENGTH = 80;

/** How much of a prompt is looked at, in UTF-16 code units: it may be megabytes. */
const LOOKED_AT = 2_000;

/**
 * The first line of a prompt that says something, or the name of what it links to; cut at a word
 * where it is longer than {@linkcode MAX_TITLE_LENGTH}. Undefined where there is neither.
 */
export function promptTitle(content: readonly PromptContent[]): string | undefined {
  const text = content.map((part) => part.type === "text" ? part.text : "").join("")
    .trimStart().slice(0, LOOKED_AT);
  const names = content.map(nameOf);
  for (const line of [...text.split(/\r\n|[\n\r\u2028\u2029]/), ...names]) {
    const clean = oneLine(line);
    if (clean !== "") return shorten(clean);
  }
  return undefined;
}

function nameOf(part: PromptContent): string {
  switch (part.type) {
    case "text":
      return "";
    case "resource_link":
      return part.name;
    case "image":
      return "Image";
    case "resource_text":
    case "resource_blob":
      return part.uri.slice(0, LOOKED_AT).replace(/[?#].*$/s, "").split("/").at(-1) ?? "";
  }
}

/** Without what would break a line of a list: control characters, and those that turn its direction. */
function oneLine(text: string): string {
  return text.slice(0, LOOKED_AT).toWellFormed()
    .replace(/\p{Cc}/gu, " ")
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "")
    .trim();
}

function shorten(text: string): string {
  const segments = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  if (segments.length <= MAX_TITLE_LENGTH) return text;
  const head = segments.slice(0, MAX_TITLE_LENGTH - 1).join("");
  const cut = segments[MAX_TITLE_LENGTH - 1] === " " ? head.length : head.lastIndexOf(" ");
  // A language without spaces, or one long word: at a character.
  const kept = cut > head.length / 2 ? head.slice(0, cut) : head;
  return `${kept.trimEnd()}…`;
}
