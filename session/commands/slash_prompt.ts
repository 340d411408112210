/** What a prompt that starts with a slash stands for. */
import { linkTarget } from "../_link_target.ts";
import type { PromptContent } from "../events.ts";
import { type BuiltinName, isBuiltin } from "./builtin_commands.ts";
import { expandTemplate, MAX_EXPANSION } from "./expand_template.ts";
import type { PromptTemplate } from "./prompt_templates.ts";

/** The command of a prompt. */
export type SlashPrompt =
  | { readonly type: "builtin"; readonly name: BuiltinName; readonly args: string }
  /** `expanded` is what the model is sent in place of the prompt. */
  | { readonly type: "template"; readonly expanded: readonly PromptContent[] }
  | { readonly type: "too_long"; readonly message: string };

/** Reads a prompt. Undefined: it is none of a known command, and means what it says. */
export function readSlashPrompt(
  content: readonly PromptContent[],
  templates: readonly PromptTemplate[],
): SlashPrompt | undefined {
  const [first] = content;
  if (first?.type !== "text" || !first.text.startsWith("/")) return undefined;
  // What is linked to is an argument by its path.
  const typed = content.map((part) => wordOf(part));
  const [, name, args = ""] = /^\/(\S+)(?:\s+([^]*))?$/.exec(typed.join("").trimEnd()) ?? [];
  if (name === undefined) return undefined;
  if (isBuiltin(name)) return { type: "builtin", name, args };
  const template = templates.find((one) => one.name === name);
  if (!template) return undefined;
  const text = expandTemplate(template.text, args);
  if (text === undefined) {
    const message = `"/${name}" with these arguments makes more than ${MAX_EXPANSION} characters`;
    return { type: "too_long", message };
  }
  const links = content.filter((part) => part.type === "resource_link");
  return { type: "template", expanded: [{ type: "text", text }, ...links] };
}

function wordOf(part: PromptContent): string {
  if (part.type === "text") return part.text;
  return part.uri === undefined ? "" : linkTarget(part.uri);
}
