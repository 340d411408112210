/** The commands that look after the store. Each is loaded only when it is asked for. */
import { openSessionStore } from "../../session/store.ts";
import { openDataFolder } from "../_data_folder.ts";
import type { StoreCommandName } from "../settings.ts";
import type { CommandSurroundings, StoreCommand } from "./store_command.ts";

const COMMANDS: Readonly<Record<StoreCommandName, () => Promise<StoreCommand>>> = {
  export: async () => (await import("./export_command.ts")).exportCommand,
  import: async () => (await import("./import_command.ts")).importCommand,
  prune: async () => (await import("./prune_command.ts")).pruneCommand,
  repair: async () => (await import("./repair_command.ts")).repairCommand,
};

/** Runs a command on the store. Every failure is one line on stderr and an exit code. */
export async function runStoreCommand(
  name: StoreCommandName,
  args: readonly string[],
  surroundings: CommandSurroundings,
): Promise<number> {
  try {
    const folder = await openDataFolder(surroundings, { canWrite: () => true });
    if (folder.type === "failed") {
      surroundings.complain(folder.message);
      return 1;
    }
    const { kv: path, kvToken: token, kvTimeoutMs: timeoutMs, lease } = surroundings;
    await using store = await openSessionStore({
      path,
      token,
      timeoutMs,
      now: surroundings.now,
      ...lease && { lease },
    });
    const command = await COMMANDS[name]();
    return await command(args, store, surroundings);
  } catch (error) {
    surroundings.complain(error instanceof Error ? error.message : String(error));
    return 1;
  }
}
