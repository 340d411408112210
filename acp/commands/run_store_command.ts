/** The commands that look after the store. Each is loaded only when it is asked for. */
import type { LeaseOptions } from "../../session/lease.ts";
import { openSessionStore } from "../../session/store.ts";
import type { SessionStore } from "../../session/store.ts";
import { openDataFolder } from "../_data_folder.ts";
import type { Settings, StoreCommandName } from "../settings.ts";

/** What a command is given. */
export interface CommandSurroundings
  extends
    Pick<Settings, "kv" | "dataDirectory">,
    Partial<Pick<Settings, "kvToken" | "kvTimeoutMs">> {
  /** This process and how it looks at others: it owns the session it mends. */
  readonly lease?: LeaseOptions;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Stdin. */
  readonly input: ReadableStream<Uint8Array>;
  /** Stdout, for what is long. */
  readonly output: WritableStream<Uint8Array>;
  /** Writes text to stdout. */
  readonly print: (text: string) => void;
  /** Writes one line for a person to stderr. */
  readonly complain: (message: string) => void;
}

/** A command: resolves with the exit code. 0 is success, 1 a failure, 2 wrong arguments. */
export type StoreCommand = (
  args: readonly string[],
  store: SessionStore,
  surroundings: CommandSurroundings,
) => Promise<number>;

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
