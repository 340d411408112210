/** The commands for trying and checking the program. Each is loaded only when it is asked for. */
import type { ProgramCommandName, Settings } from "../settings.ts";

/** What a command is given. */
export interface ProgramSurroundings {
  readonly settings: Settings;
  /** The environment, as far as it may be read. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes text to stdout. */
  readonly print: (text: string) => void;
  /** Writes one line for a person to stderr. */
  readonly complain: (message: string) => void;
}

/** A command: resolves with the exit code. 0 is success, 1 a failure, 2 wrong arguments. */
export type ProgramCommand = (
  args: readonly string[],
  surroundings: ProgramSurroundings,
) => Promise<number>;

const COMMANDS: Readonly<Record<ProgramCommandName, () => Promise<ProgramCommand>>> = {
  chat: async () => (await import("./chat_command.ts")).chatCommand,
  doctor: async () => (await import("./doctor_command.ts")).doctorCommand,
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
