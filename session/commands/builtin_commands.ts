/** The commands every session has. What they answer is no part of the conversation. */
import { compact } from "../_compaction.ts";
import type { TurnContext } from "../_turn_context.ts";
import type { SessionOption } from "../session_config.ts";
import type { SessionCommand } from "./session_command.ts";

/** The name of one. */
export type BuiltinName = keyof typeof BUILTINS;

const BUILTINS = {
  compact: { description: "Put a summary in the place of the conversation, to make room" },
  help: { description: "List the commands" },
  model: { description: "Show or choose the model", hint: "[provider/model]" },
  permissions: {
    description: "Show or choose what may be done without asking",
    hint: "[preset]",
  },
} as const;

/** All of them. */
export const BUILTIN_COMMANDS: readonly SessionCommand[] = Object.entries(BUILTINS)
  .map(([name, facts]) => ({ name, ...facts }));

/** Whether there is one of this name. */
export function isBuiltin(name: string): name is BuiltinName {
  return Object.hasOwn(BUILTINS, name);
}

/**
 * Does what a command says, and answers in words for a person (Markdown); undefined where what was
 * logged says it already.
 */
export async function runBuiltin(
  context: TurnContext,
  { name, args }: { readonly name: BuiltinName; readonly args: string },
  commands: readonly SessionCommand[],
): Promise<string | undefined> {
  switch (name) {
    case "compact":
      return await compactNow(context);
    case "help":
      return help(commands, context.tools.has("bash"));
    case "model":
      return await option(context, "model", { name, noun: "model", wanted: args });
    case "permissions":
      return await option(context, "permission", {
        name,
        noun: "permission preset",
        wanted: args,
      });
    default: {
      const never: never = name;
      throw new TypeError(`Cannot run an unknown command: ${never}`);
    }
  }
}

async function compactNow(context: TurnContext): Promise<string | undefined> {
  if (context.fold.messages().length === 0) return "There is nothing to summarise yet.";
  const resolved = await context.models.resolve(context.config.model);
  if (resolved.type === "unavailable") return `Nothing was summarised: ${resolved.message}.`;
  const { text } = await context.system();
  await compact(context, resolved.model, text, "user");
}

function help(commands: readonly SessionCommand[], bash: boolean): string {
  const lines = commands.map(({ name, description, hint }) =>
    `- \`/${name}${hint === undefined ? "" : ` ${hint}`}\`: ${description}`
  );
  if (bash) lines.push("- `!command`: Run a command in the shell");
  return lines.join("\n");
}

/** Shows an option, or chooses one of its values. */
async function option(
  { config, choose }: TurnContext,
  id: SessionOption["id"],
  { name, noun, wanted }: { readonly name: string; readonly noun: string; readonly wanted: string },
): Promise<string> {
  const found = config.options().find((one) => one.id === id);
  if (!found) return `There is no ${noun} to choose from. The agent's settings name none.`;
  const others = found.choices.filter(({ value }) => value !== found.value);
  const list = [
    `To choose another one:`,
    "",
    ...others.map((other) => `- \`/${name} ${other.value}\`: ${other.description ?? other.name}`),
  ].join("\n");
  const now = `The ${noun} is \`${found.value}\`.`;
  const more = others.length > 0 ? ` ${list}` : "";
  if (wanted === "") return `${now}${more}`;
  const value = matching(found, wanted);
  if (value === undefined) {
    return `There is no ${noun} "${wanted.slice(0, 100).toWellFormed()}". ${now}${more}`;
  }
  const result = await choose(id, value);
  return result.ok ? `The ${noun} is now \`${value}\`.` : `Nothing was changed: ${result.problem}.`;
}

/** The value that is meant: whole, or a model without its provider where only one is called so. */
function matching({ choices }: SessionOption, wanted: string): string | undefined {
  const values = choices.map(({ value }) => value);
  if (values.includes(wanted)) return wanted;
  const [value, ...more] = values.filter((one) => one.slice(one.indexOf("/") + 1) === wanted);
  return more.length === 0 ? value : undefined;
}
