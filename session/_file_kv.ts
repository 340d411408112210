/** A database file whose failures say what they mean for a person. */
import type { Kv, KvAtomic, KvEntry, KvKey, KvSelector } from "./kv.ts";
import { StoreUnavailableError } from "./store_errors.ts";

/** What SQLite says when the file, or the disk it is on, cannot be used. */
const UNUSABLE =
  /disk is full|readonly|read-only|disk i\/o|malformed|not a database|unable to open|no such table/i;

/** Gives the failures of `kv`, a file at `path`, a name and a sentence. A lock is none. */
export function fileKv(kv: Kv, path: string): Kv {
  function explained(error: unknown): unknown {
    if (!(error instanceof Error) || !UNUSABLE.test(error.message)) return error;
    const [reason] = error.message.split("\n");
    return new StoreUnavailableError(`Cannot use the session store "${path}": ${reason}`, {
      cause: error,
    });
  }

  async function explain<Result>(operation: Promise<Result>): Promise<Result> {
    try {
      return await operation;
    } catch (error) {
      throw explained(error);
    }
  }

  return {
    get: (key: KvKey): Promise<KvEntry> => explain(kv.get(key)),
    async *list(selector: KvSelector, options): AsyncGenerator<KvEntry> {
      try {
        yield* kv.list(selector, options);
      } catch (error) {
        throw explained(error);
      }
    },
    atomic(): KvAtomic {
      const atomic = kv.atomic();
      const commit = atomic.commit.bind(atomic);
      atomic.commit = () => explain(commit());
      return atomic;
    },
    close: () => kv.close(),
  };
}
