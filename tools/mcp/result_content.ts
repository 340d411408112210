/** What a server's tool returns, as the model and a person get it. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ToolContent } from "../presentation.ts";
import type { ToolResult } from "../tool.ts";

/** The longest text of one result, in UTF-16 code units. */
const LONGEST_TEXT = 30_000;

/** The longest image, in characters of base64: what model providers take. */
const LONGEST_IMAGE = 5 * 1024 * 1024;

type Block = CallToolResult["content"][number];

/** Maps a result. Text beyond the limit loses its middle. */
export function resultContent(result: CallToolResult): ToolResult {
  const isError = result.isError === true;
  const items = result.content.map(blockContent);
  if (items.length === 0) {
    const { structuredContent } = result;
    const text = structuredContent === undefined ? "" : JSON.stringify(structuredContent);
    items.push({ type: "text", text: text || "(no output)" });
  }
  return { content: bounded(items), isError };
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
  if (data.length <= LONGEST_IMAGE) return { type: "image", data, mimeType };
  return note(`${mimeType}: left out, since it is longer than ${LONGEST_IMAGE} characters`);
}

function note(text: string): ToolContent {
  return { type: "text", text: `[${text}]` };
}

/** All text items share one limit; a quarter of what is left goes to the start of a long one. */
function bounded(items: readonly ToolContent[]): ToolContent[] {
  let left = LONGEST_TEXT;
  return items.map((item) => {
    if (item.type !== "text") return item;
    const text = cut(item.text, left);
    left = Math.max(0, left - text.length);
    return { type: "text", text };
  });
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = Math.floor(limit / 4);
  const end = text.length - (limit - start);
  // toWellFormed: a cut may fall inside a surrogate pair.
  return `${text.slice(0, start)}\n[${end - start} characters left out]\n${text.slice(end)}`
    .toWellFormed();
}
