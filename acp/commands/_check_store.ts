/** Whether the sessions and the agent's own folder can be kept where they are to be. */
import { dirname } from "node:path";
import { openSessionStore } from "../../session/store.ts";
import { storePath } from "../_data_folder.ts";
import type { Grants } from "../_grants.ts";
import type { Settings } from "../settings.ts";
import type { Finding } from "./_finding.ts";

const ELSEWHERE = "choose another place with XDG_DATA_HOME or --kv";

/** The agent's own folder. A file is written in it and removed; the folder is not made for that. */
export async function checkDataFolder(
  { dataDirectory }: Settings,
  { canWrite }: Pick<Grants, "canWrite">,
): Promise<Finding> {
  const name = "data folder";
  if (!canWrite(dataDirectory)) {
    const text = `Deno may not write to "${dataDirectory}": add it to --allow-write`;
    return { level: "fail", name, text };
  }
  if (await isThere(dataDirectory)) {
    const problem = await writeProblem(dataDirectory);
    return problem === undefined ? { level: "ok", name, text: `"${dataDirectory}"` } : {
      level: "fail",
      name,
      text: `cannot write to "${dataDirectory}": ${problem}. Or ${ELSEWHERE}`,
    };
  }
  const parent = await nearest(dataDirectory);
  const problem = canWrite(parent) ? await writeProblem(parent) : undefined;
  return problem === undefined
    ? { level: "ok", name, text: `"${dataDirectory}" (made with the first session)` }
    : { level: "fail", name, text: `cannot make "${dataDirectory}": ${problem}. Or ${ELSEWHERE}` };
}

/** The session store: opened and counted where it is there, and not made where it is not. */
export async function checkStore(
  settings: Settings,
  { canWrite }: Pick<Grants, "canWrite">,
): Promise<Finding> {
  const name = "sessions";
  const isRemote = /^https?:/i.test(settings.kv);
  const kv = isRemote ? settings.kv : storePath(settings.kv);
  if (!isRemote) {
    if (!canWrite(kv)) {
      return {
        level: "fail",
        name,
        text: `Deno may not write to "${kv}": add it to --allow-write`,
      };
    }
    if (!await isThere(kv)) {
      const parent = await nearest(kv);
      const problem = canWrite(parent) ? await writeProblem(parent) : undefined;
      return problem === undefined
        ? { level: "ok", name, text: `none yet; they will be kept in "${kv}"` }
        : { level: "fail", name, text: `cannot make "${kv}": ${problem}. Or ${ELSEWHERE}` };
    }
    // Before the store is open: closing any handle of the file gives up the locks on it.
    const problem = await openProblem(kv);
    if (problem !== undefined) {
      return { level: "fail", name, text: `cannot write to "${kv}": ${problem}. Or ${ELSEWHERE}` };
    }
  }
  try {
    await using store = await openSessionStore({
      path: kv,
      token: settings.kvToken,
      timeoutMs: settings.kvTimeoutMs,
      now: Date.now,
    });
    let count = 0;
    for await (const _ of store.list()) count++;
    return { level: "ok", name, text: `${count} in "${kv}"` };
  } catch (error) {
    return { level: "fail", name, text: `cannot open "${kv}": ${messageOf(error)}` };
  }
}

async function openProblem(path: string): Promise<string | undefined> {
  try {
    (await Deno.open(path, { read: true, write: true })).close();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function writeProblem(folder: string): Promise<string | undefined> {
  try {
    await Deno.remove(await Deno.makeTempFile({ dir: folder, prefix: ".dsh-acp-doctor-" }));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function nearest(path: string): Promise<string> {
  let folder = dirname(path);
  while (folder !== dirname(folder) && !await isThere(folder)) folder = dirname(folder);
  return folder;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    // What may not be seen counts as there: the attempt to write says more.
    return !(error instanceof Deno.errors.NotFound);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
