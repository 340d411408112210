/** What a command on the store is. */
import type { LeaseOptions } from "../../session/lease.ts";
import type { SessionStore } from "../../session/store.ts";
import type { Settings } from "../settings.ts";

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
