/** The agent's own folder, and what is wrong with it. */
import { absolutePath } from "./mapper/paths.ts";
import type { Grants } from "./_grants.ts";
import type { Settings } from "./settings.ts";

/** The folder as it was found. */
export type DataFolder =
  | { readonly type: "ready" }
  /** The log is kept elsewhere; only temporary files and full outputs are missing. */
  | { readonly type: "without"; readonly message: string }
  /** There is no place for the log. */
  | { readonly type: "failed"; readonly message: string };

/** The place of the log as an absolute path; the URL of a server stays what it is. */
export function storePath(kv: string): string {
  return isRemote(kv) ? kv : absolutePath(kv, Deno.cwd());
}

/**
 * The folder of what `login` stores. It is masked as a whole: the file is replaced by each login,
 * and what covers a file in the namespace of a running command goes with it (rename(2)).
 */
export function credentialsFolder(dataDirectory: string): string {
  return `${dataDirectory}/credentials`;
}

/** Where `login` keeps keys. */
export function credentialsPath(dataDirectory: string): string {
  return `${credentialsFolder(dataDirectory)}/keys.json`;
}

/** The files of the log: what no call may write to. */
export function storeFiles(kv: string): string[] {
  return isRemote(kv) ? [] : [kv, `${kv}-wal`, `${kv}-shm`];
}

/**
 * Makes the folder, mode 0700. `message` names the path and what to do.
 *
 * @param settings `kv` as {@linkcode storePath} gives it.
 */
export async function openDataFolder(
  { kv, dataDirectory }: Pick<Settings, "kv" | "dataDirectory">,
  { canWrite }: Pick<Grants, "canWrite">,
): Promise<DataFolder> {
  const isInside = kv.startsWith(`${dataDirectory}/`) || kv.startsWith(`${dataDirectory}\\`);
  if (!isInside && !isRemote(kv) && !canWrite(kv)) {
    return { type: "failed", message: `Cannot keep sessions in "${kv}" as ${notGranted(kv)}` };
  }
  const parent = kv.replace(/[\\/][^\\/]*$/, "");
  const there = isInside || isRemote(kv) || await exists(parent);
  const noParent = there ? undefined : await makeFolder(parent);
  if (noParent !== undefined) {
    return { type: "failed", message: `Cannot keep sessions in "${kv}" as ${noParent}` };
  }
  const problem = canWrite(dataDirectory)
    ? await makeFolder(dataDirectory)
    : notGranted(dataDirectory);
  if (problem === undefined) return { type: "ready" };
  return isInside
    ? { type: "failed", message: `Cannot keep sessions in "${dataDirectory}" as ${problem}` }
    : { type: "without", message: `Cannot keep long outputs in "${dataDirectory}" as ${problem}` };
}

/**
 * Makes the folder of what `login` stores, mode 0700: before the first command, which could not be
 * kept from what is made later. Resolves with what is wrong, if anything is.
 *
 * @param dataDirectory As {@linkcode openDataFolder} left it.
 */
export async function openCredentialsFolder(dataDirectory: string): Promise<string | undefined> {
  const path = credentialsFolder(dataDirectory);
  const problem = await makeFolder(path);
  return problem === undefined ? undefined : `Cannot store keys in "${path}" as ${problem}`;
}

function isRemote(kv: string): boolean {
  return /^https?:/i.test(kv);
}

function notGranted(path: string): string {
  return `Deno may not write there: add ${path} to --allow-write`;
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    // Missing or out of reach: the attempt to make it says which.
    return false;
  }
}

async function makeFolder(path: string): Promise<string | undefined> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `the system reports: ${reason}. Choose another place with XDG_DATA_HOME or --kv`;
  }
}
