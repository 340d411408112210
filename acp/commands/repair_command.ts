import type { StoreCommand } from "./run_store_command.ts";

/** TODO(helper). */
export const repairCommand: StoreCommand = () => Promise.resolve(1);
