/** What a command about the program itself is. */
import type { PermissionQuery } from "../_grants.ts";
import type { Settings } from "../settings.ts";
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
