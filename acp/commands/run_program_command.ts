/** The commands about the program itself. Each is loaded only when it is asked for. */
import type { ProgramCommandName } from "../settings.ts";
import type { ProgramCommand, ProgramSurroundings } from "./program_command.ts";

const COMMANDS: Readonly<Record<ProgramCommandName, () => Promise<ProgramCommand>>> = {
  login: async () => (await import("./login_command.ts")).loginCommand,
  logout: async () => (await import("./logout_command.ts")).logoutCommand,
};

/** Runs a command. Every failure is one line on stderr and an exit code. */
export async function runProgramCommand(
  name: ProgramCommandName,
  args: readonly string[],
  surroundings: ProgramSurroundings,
): Promise<number> {
  try {
    const command = await COMMANDS[name]();
    return await command(args, surroundings);
  } catch (error) {
    surroundings.complain(error instanceof Error ? error.message : String(error));
    return 1;
  }
}
