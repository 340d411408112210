/** The commands about the program itself. Each is loaded only when it is asked for. */
import type { PermissionQuery } from "../_grants.ts";
import type { ProgramCommandName, Settings } from "../settings.ts";
import type { Keyboard } from "./_ask_terminal.ts";

/** What a command is given. */
export interface ProgramSurroundings {
  readonly settings: Settings;
  /** The environment, as far as it may be read. */
  readonly env: Readonly<Record<string, string>>;
  readonly granted: PermissionQuery;
  /** Stdin. */
  readonly keyboard: Keyboard;
  /** Writes a question to stderr, without an end of line. */
  readonly ask: (text: string) => void;
  /** Writes one line for a person to stderr. */
  readonly complain: (message: string) => void;
}

/** A command: resolves with the exit code. 0 is success, 1 a failure, 2 wrong arguments. */
export type ProgramCommand = (
  args: readonly string[],
  surroundings: ProgramSurroundings,
) => Promise<number>;

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
