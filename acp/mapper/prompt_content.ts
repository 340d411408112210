/** ACP content blocks to prompt content. */
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { PromptContent } from "../../session/events.ts";

/** The content, or which block breaks which rule. */
export type PromptReading =
  | { readonly ok: true; readonly content: readonly PromptContent[] }
  | { readonly ok: false; readonly field: string; readonly rule: string; readonly value: unknown };

type LinkBlock = Extract<ContentBlock, { type: "resource_link" }>;

function readLink({ uri, name, title, description, mimeType, size }: LinkBlock): PromptContent {
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

/** Reads a prompt: text and resource links, at least one of them not blank. */
export function readPrompt(blocks: readonly ContentBlock[]): PromptReading {
  const content: PromptContent[] = [];
  for (const [index, block] of blocks.entries()) {
    switch (block.type) {
      case "text":
        content.push({ type: "text", text: block.text });
        break;
      case "resource_link":
        content.push(readLink(block));
        break;
      default:
        return {
          ok: false,
          field: `prompt[${index}].type`,
          rule: "must be text or resource_link",
          value: block.type,
        };
    }
  }
  const blank = content.every((part) => part.type === "text" && !part.text?.trim());
  if (blank) return { ok: false, field: "prompt", rule: "must not be empty", value: blocks };
  return { ok: true, content };
}
