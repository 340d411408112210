/** ACP content blocks to prompt content, and back for a replay. */
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { PromptContent } from "../../session/events.ts";

/** The content, or which block breaks which rule. */
export type PromptReading =
  | { readonly ok: true; readonly content: readonly PromptContent[] }
  | { readonly ok: false; readonly field: string; readonly rule: string; readonly value: unknown };

/** What {@linkcode readPrompt} accepts beyond text, links and embedded resources. */
export interface PromptOptions {
  /** Whether the model takes images. @default {false} */
  readonly images?: boolean;
}

type BlockReading =
  | { readonly ok: true; readonly part: PromptContent }
  | { readonly ok: false; readonly member: string; readonly rule: string; readonly value: unknown };

/** The longest image, in characters of base64: what model providers take. */
const LONGEST_IMAGE = 5 * 1024 * 1024;

const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

type Block<Type extends ContentBlock["type"]> = Extract<ContentBlock, { type: Type }>;

/** Reads a prompt: at least one block, and not all of them blank text. */
export function readPrompt(
  blocks: readonly ContentBlock[],
  options: PromptOptions = {},
): PromptReading {
  const content: PromptContent[] = [];
  for (const [index, block] of blocks.entries()) {
    const read = readBlock(block, options);
    if (!read.ok) {
      const { member, rule, value } = read;
      return { ok: false, field: `prompt[${index}].${member}`, rule, value };
    }
    content.push(read.part);
  }
  const blank = content.every((part) => part.type === "text" && !part.text?.trim());
  if (blank) return { ok: false, field: "prompt", rule: "must not be empty", value: blocks };
  return { ok: true, content };
}

/** The block that was read as `part`. */
export function promptBlock(part: PromptContent): ContentBlock {
  switch (part.type) {
    case "text":
    case "resource_link":
    case "image":
      return { ...part };
    case "resource_text":
    case "resource_blob": {
      const { type: _, ...resource } = part;
      return { type: "resource", resource };
    }
  }
}

function readBlock(block: ContentBlock, options: PromptOptions): BlockReading {
  switch (block.type) {
    case "text":
      return { ok: true, part: { type: "text", text: block.text } };
    case "resource_link":
      return { ok: true, part: readLink(block) };
    case "resource":
      return { ok: true, part: readResource(block) };
    case "image":
      return readImage(block, options);
    default: {
      const rule = options.images
        ? "must be text, image, resource or resource_link"
        : "must be text, resource or resource_link";
      return { ok: false, member: "type", rule, value: block.type };
    }
  }
}

function readLink(
  { uri, name, title, description, mimeType, size }: Block<"resource_link">,
): PromptContent {
  return {
    type: "resource_link",
    uri,
    name,
    ...(title != null && { title }),
    ...(description != null && { description }),
    ...(mimeType != null && { mimeType }),
    ...(size != null && { size: Number(size) }),
  };
}

function readResource({ resource }: Block<"resource">): PromptContent {
  const { uri, mimeType } = resource;
  const facts = { uri, ...(mimeType != null && { mimeType }) };
  return "text" in resource
    ? { type: "resource_text", ...facts, text: resource.text }
    : { type: "resource_blob", ...facts, blob: resource.blob };
}

/** Whatever a provider would refuse is refused here: once in the log it would be sent every time. */
function readImage({ data, mimeType, uri }: Block<"image">, options: PromptOptions): BlockReading {
  const broken = (member: string, rule: string, value: unknown): BlockReading => {
    return { ok: false, member, rule, value };
  };
  if (!options.images) {
    const rule = "must be text, resource or resource_link, as the session's model takes no images";
    return broken("type", rule, "image");
  }
  if (!IMAGE_TYPES.includes(mimeType)) {
    return broken("mimeType", `must be one of ${IMAGE_TYPES.join(", ")}`, mimeType);
  }
  if (data.length > LONGEST_IMAGE) {
    return broken("data", `must have at most ${LONGEST_IMAGE} characters`, data.length);
  }
  if (data === "" || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    return broken("data", "must be base64", data);
  }
  return { ok: true, part: { type: "image", data, mimeType, ...(uri != null && { uri }) } };
}
