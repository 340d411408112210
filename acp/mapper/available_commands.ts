/** Session commands to ACP commands. */
import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { SessionCommand } from "../../session/commands/session_command.ts";

/** Maps the complete list. */
export function availableCommands(commands: readonly SessionCommand[]): AvailableCommand[] {
  return commands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
}
