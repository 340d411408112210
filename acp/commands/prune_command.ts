import { compactFile } from "../../session/compact_file.ts";
import { storeFiles } from "../_data_folder.ts";
import { removeSessionFiles } from "../_session_files.ts";
import type { StoreCommand } from "./store_command.ts";

const USAGE = "prune needs --older-than and an age in days or hours, for example 30, 30d or 12h";

/** `prune --older-than AGE`: deletes old sessions and gives their space back. */
export const pruneCommand: StoreCommand = async (args, store, surroundings) => {
  const { kv, dataDirectory, now, print, complain } = surroundings;
  const age = readAge(args);
  if (age === undefined) {
    complain(args.length === 0 ? USAGE : `${USAGE}; got "${args.join(" ")}"`);
    return 2;
  }
  const [file] = storeFiles(kv);
  const before = file === undefined ? 0 : await size(file);
  const { deleted, live } = await store.prune(now() - age);
  for (const id of deleted) await removeSessionFiles(dataDirectory, id);
  // The file can only be rewritten while nobody has it open.
  await store[Symbol.asyncDispose]();
  const done = `Deleted ${count(deleted.length)}${live > 0 ? `, kept ${live} in use` : ""}`;
  if (file === undefined) {
    print(`${done}\n`);
    return 0;
  }
  const compacted = await compactFile(file);
  const after = await size(file);
  switch (compacted.type) {
    case "compacted":
      print(`${done}; the store takes ${bytes(after)}, before ${bytes(before)}\n`);
      return 0;
    case "in_use":
      print(`${done}; the store still takes ${bytes(after)}, as another process has it open\n`);
      return 0;
    case "failed":
      print(`${done}; the store still takes ${bytes(after)}\n`);
      complain(`Cannot give space back as the store cannot be rewritten: ${compacted.message}`);
      return 1;
    default: {
      const never: never = compacted;
      throw new TypeError(`Cannot report an unknown compaction: ${JSON.stringify(never)}`);
    }
  }
};

/** The age in milliseconds. */
function readAge(args: readonly string[]): number | undefined {
  const [, number, unit] = /^--older-than(?:=| )(\d{1,6})([dh]?)$/.exec(args.join(" ")) ?? [];
  if (number === undefined) return undefined;
  return Number(number) * (unit === "h" ? 3_600_000 : 86_400_000);
}

/** What the store takes on disk; the log of its last writes is a file of its own. */
async function size(path: string): Promise<number> {
  let sum = 0;
  for (const part of [path, `${path}-wal`]) {
    try {
      sum += (await Deno.stat(part)).size;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return sum;
}

function count(sessions: number): string {
  return sessions === 1 ? "1 session" : `${sessions} sessions`;
}

function bytes(number: number): string {
  return `${number.toLocaleString("en")} bytes`;
}
