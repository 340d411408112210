import type { ProgramCommand } from "./run_program_command.ts";

/** Being written. */
export const chatCommand: ProgramCommand = () => Promise.resolve(1);
