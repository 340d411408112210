/** The agent's own folder, and what is wrong with it. */
import type { Grants } from "./_grants.ts";
import type { Settings } from "./settings.ts";

/** The folder as it was found. */
export type DataFolder =
  | { readonly type: "ready" }
  /** The log is kept elsewhere; only temporary files and full outputs are missing. */
  | { readonly type: "without"; readonly message: string }
  /** There is no place for the log. */
  | { readonly type: "failed"; readonly message: string };

/** Makes the folder, mode 0700. `message` names the path and what to do. */
export async function openDataFolder(
  { kv, dataDirectory }: Pick<Settings, "kv" | "dataDirectory">,
  { canWrite }: Pick<Grants, "canWrite">,
): Promise<DataFolder> {
  const remote = /^https?:/.test(kv);
  if (!remote && !canWrite(kv)) {
    const folder = kv.startsWith(`${dataDirectory}/`) ? dataDirectory : kv;
    return {
      type: "failed",
      message: `Cannot keep sessions in "${kv}" as Deno may not write there: ` +
        `add ${folder} to --allow-write, or name another place with --kv`,
    };
  }
  const inside = kv.startsWith(`${dataDirectory}/`);
  const problem = canWrite(dataDirectory)
    ? await makeFolder(dataDirectory)
    : `Deno may not write there: add ${dataDirectory} to --allow-write`;
  if (problem === undefined) return { type: "ready" };
  return inside && !remote
    ? {
      type: "failed",
      message: `Cannot keep sessions in "${dataDirectory}" as ${problem}`,
    }
    : {
      type: "without",
      message: `Cannot keep long outputs in "${dataDirectory}" as ${problem}`,
    };
}

async function makeFolder(path: string): Promise<string | undefined> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `${reason}: name another place with --kv or XDG_DATA_HOME`;
  }
}
