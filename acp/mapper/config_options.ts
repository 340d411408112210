/** Session options to ACP config options. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import type { OptionChoice, SessionOption } from "../../session/session_config.ts";

/** Maps the complete list, in order of priority. */
export function configOptions(options: readonly SessionOption[]): SessionConfigOption[] {
  return options.map((option) => ({
    type: "select",
    id: option.id,
    name: option.name,
    description: option.description,
    category: option.category,
    currentValue: option.value,
    options: groupChoices(option.choices),
  }));
}

function groupChoices(choices: readonly OptionChoice[]) {
  const plain = choices.map(({ value, name, description }) => ({
    value,
    name,
    ...(description !== undefined && { description }),
  }));
  const groups = [...new Set(choices.map((choice) => choice.group ?? ""))];
  if (groups.length < 2) return plain;
  return groups.map((group) => ({
    group,
    name: group,
    options: plain.filter((_, index) => (choices[index]?.group ?? "") === group),
  }));
}
