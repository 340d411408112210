/** A prompt as the model gets it: a text, and the images that the text counts through. */
import type { ToolContent } from "../tools/presentation.ts";
import type { PromptContent } from "./events.ts";

/** An image, as tools return it as well. */
export type PromptImage = Extract<ToolContent, { type: "image" }>;

/** What a model is sent of a prompt. */
export interface PromptParts {
  readonly text: string;
  readonly images: readonly PromptImage[];
}

/** The types of images that model providers take. */
const IMAGE_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/** The longest image, in characters of base64. */
const LONGEST_IMAGE = 5 * 1024 * 1024;

/** The types besides `text/*` whose content is text. */
const TEXT_TYPE =
  /^(text\/.+|application\/(json|xml|javascript|typescript|yaml|x-yaml|toml|x-sh|sql|graphql)|.+\+(json|xml|yaml))$/;

/** Reads a prompt. `shown` is how many images stand before it in the same message. */
export function promptParts(content: readonly PromptContent[], shown = 0): PromptParts {
  const images: PromptImage[] = [];
  const image = (data: string, mimeType: string): string => {
    images.push({ type: "image", data, mimeType });
    return `\n[image ${shown + images.length}]\n`;
  };
  const text = content.map((part) => {
    switch (part.type) {
      case "text":
        return part.text;
      case "resource_link":
        return `\n[resource_link ${attributes({ name: part.name, uri: part.uri })}]\n`;
      case "image":
        return image(part.data, part.mimeType);
      case "resource_text":
        return embedded(part, part.text);
      case "resource_blob": {
        const type = mediaType(part.mimeType);
        if (IMAGE_TYPES.has(type) && isImageData(part.blob)) return image(part.blob, type);
        const decoded = TEXT_TYPE.test(type) ? decodeText(part.blob) : undefined;
        return decoded === undefined ? binary(part) : embedded(part, decoded);
      }
    }
  }).join("");
  return { text, images };
}

/** What the user wrote, with the names of what came along in place of it. */
export function promptWords(content: readonly PromptContent[]): string {
  return content.map((part) => {
    switch (part.type) {
      case "text":
        return part.text;
      case "resource_link":
        return `\n[resource_link ${attributes({ name: part.name, uri: part.uri })}]\n`;
      case "image":
        return "\n[image]\n";
      case "resource_text":
      case "resource_blob":
        return `\n[resource ${attributes({ uri: part.uri })}]\n`;
    }
  }).join("");
}

/** A provider refuses other data, and would refuse the whole conversation with it from then on. */
function isImageData(blob: string): boolean {
  return blob.length <= LONGEST_IMAGE && blob.length % 4 === 0 &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(blob);
}

type Resource = { readonly uri: string; readonly mimeType?: string };

function embedded({ uri, mimeType }: Resource, text: string): string {
  return `\n<resource ${attributes({ uri, mimeType })}>\n${text}\n</resource>\n`;
}

function binary({ uri, mimeType, blob }: Resource & { readonly blob: string }): string {
  const bytes = Math.floor(blob.length * 3 / 4);
  return `\n[resource ${attributes({ uri, mimeType })}: about ${bytes} bytes that are no text]\n`;
}

function attributes(named: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(named).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(" ");
}

/** Without parameters such as the character set. */
function mediaType(mimeType: string | undefined): string {
  return (mimeType ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

function decodeText(blob: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(blob), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // No base64, or no UTF-8 whatever its type says: it is named like other bytes.
    return undefined;
  }
}
