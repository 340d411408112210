/** What a server's tool returns, as the model and a person get it. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ToolContent } from "../presentation.ts";
import type { ToolResult } from "../tool.ts";

/** The longest text of one result, in UTF-16 code units. */
const LONGEST_TEXT = 30_000;

/** How long the images of one result may be together, in characters of base64. */
const LONGEST_IMAGES = 5 * 1024 * 1024;

/** What all model providers take. They refuse every request of a session that holds another. */
const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** How many items of one result are looked at. */
const MOST_ITEMS = 100;

type Block = CallToolResult["content"][number];

/** Maps a result. Text beyond the limit loses its middle. */
export function resultContent(result: CallToolResult): ToolResult {
  const isError = result.isError === true;
  const items = result.content.slice(0, MOST_ITEMS).map(blockContent);
  const rest = result.content.length - items.length;
  if (rest > 0) items.unshift(note(`${rest} items left out at the end`));
  if (items.length === 0) {
    const { structuredContent } = result;
    const text = structuredContent === undefined ? "" : JSON.stringify(structuredContent);
    items.push({ type: "text", text: text || "(no output)" });
  }
  return { content: bounded(items), isError };
}

/** Cuts the middle out of a text that is longer than results may be. */
export function cutText(text: string): string {
  return cut(text, LONGEST_TEXT).toWellFormed();
}

function blockContent(block: Block): ToolContent {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return image(block.data, block.mimeType);
    case "audio":
      return note(`audio, ${block.mimeType}: left out, since only text and images can be shown`);
    case "resource_link":
      return { type: "text", text: `${block.title ?? block.name}: ${block.uri}` };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: `${resource.uri}\n${resource.text}` };
      const mimeType = resource.mimeType ?? "application/octet-stream";
      if (mimeType.startsWith("image/")) return image(resource.blob, mimeType);
      return note(`${resource.uri}, ${mimeType}: left out, since it is neither text nor image`);
    }
    default:
      return note(`content of an unknown type: ${(block satisfies never as Block).type}`);
  }
}

function image(data: string, mimeType: string): ToolContent {
  const named = `an image, ${mimeType.slice(0, 100)}`;
  if (!IMAGE_TYPES.includes(mimeType)) {
    return note(`${named}: left out, since models take ${IMAGE_TYPES.join(", ")}`);
  }
  return isBase64(data)
    ? { type: "image", data, mimeType }
    : note(`${named}: left out, since it is not valid base64`);
}

function isBase64(data: string): boolean {
  return data.length > 0 && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

function note(text: string): ToolContent {
  return { type: "text", text: `[${text}]` };
}

/**
 * All text items share one limit, and all images another; a quarter of what is left goes to the
 * start of a long text.
 */
function bounded(items: readonly ToolContent[]): ToolContent[] {
  let characters = LONGEST_TEXT;
  let base64 = LONGEST_IMAGES;
  return items.map((item) => {
    if (item.type === "image") {
      if (item.data.length > base64) {
        const limit = `since images may have ${LONGEST_IMAGES} characters together`;
        return note(`an image, ${item.mimeType}: left out, ${limit}`);
      }
      base64 -= item.data.length;
      return item;
    }
    const text = cut(item.text, characters).toWellFormed();
    characters = Math.max(0, characters - text.length);
    return { type: "text", text };
  });
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = Math.floor(limit / 4);
  const end = text.length - (limit - start);
  return `${text.slice(0, start)}\n[${end - start} characters left out]\n${text.slice(end)}`;
}
