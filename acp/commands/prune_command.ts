import type { StoreCommand } from "./run_store_command.ts";

/** TODO(helper). */
export const pruneCommand: StoreCommand = () => Promise.resolve(1);
