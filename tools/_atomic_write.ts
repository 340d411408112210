/** Replaces or creates one file so that a reader sees the old content or the new, never a part. */
import { dirname, join } from "node:path";
import { checkWrite, type WriteCheck } from "./check_write.ts";
import { describeFileError } from "./_file_error.ts";
import { fileVersion } from "./file_observations.ts";
import { followLinks } from "./_follow_links.ts";
import type { SandboxPolicy } from "./sandbox_policy.ts";

/** What to write, where, and under which conditions. */
export interface AtomicWrite {
  /** Absolute. Links are followed and stay links. */
  readonly path: string;
  readonly data: Uint8Array<ArrayBuffer>;
  /** The version that is replaced, or null where a new file is created. */
  readonly replaces: string | null;
  readonly policy: SandboxPolicy;
  readonly signal: AbortSignal;
}

/** How a write ended. Only `written` has changed the file. */
export type AtomicWriteResult =
  | { readonly type: "written"; readonly path: string; readonly version: string }
  | { readonly type: "stale" }
  | { readonly type: "failed"; readonly message: string };

/**
 * Writes a temporary file into the real parent folder, syncs it, asks the policy again and renames.
 *
 * Between the last check and the rename remain microseconds in which another process could swap a
 * parent folder for a link; Deno has no `renameat` that would close them. Owner and permission bits
 * of a replaced file are kept. A new one gets what the umask says, as from any editor: 0600 would
 * keep sources from build users and servers that run under another account.
 */
export async function writeAtomically(write: AtomicWrite): Promise<AtomicWriteResult> {
  try {
    const before = await checkWrite(write.path, write.policy);
    if (before.type !== "allowed") return failed(before);
    if (!isExpected(before.info, write.replaces)) return { type: "stale" };
    const parent = dirname(before.path);
    const blocked = await makeFolders(parent);
    if (blocked !== null) return { type: "failed", message: blocked };
    return await replace(write, before.path, before.info, parent);
  } catch (error) {
    return { type: "failed", message: describeFileError("write", write.path, error) };
  }
}

async function replace(
  write: AtomicWrite,
  path: string,
  old: Deno.FileInfo | null,
  parent: string,
): Promise<AtomicWriteResult> {
  const temporary = join(parent, `.dsh-${crypto.randomUUID()}.tmp`);
  const mode = (old?.mode ?? 0o666) & 0o777;
  let renamed = false;
  let file: Deno.FsFile | undefined;
  try {
    // Never readable for more than the old file was, not even for a moment.
    file = await Deno.open(temporary, { write: true, createNew: true, mode });
    await writeAll(file, write.data);
    if (old !== null) await keepOwnerAndMode(temporary, old, await file.stat());
    await file.sync();
    const own = await file.stat();
    file.close();
    file = undefined;

    const inPlace = isSame(own, await Deno.lstat(temporary));
    const after = await checkWrite(write.path, write.policy);
    if (after.type !== "allowed") return failed(after);
    const moved = after.path !== path || !inPlace;
    if (moved || !isExpected(after.info, write.replaces)) return { type: "stale" };
    if (write.signal.aborted) {
      return { type: "failed", message: `Cannot write "${write.path}" as the call was cancelled` };
    }
    await Deno.rename(temporary, path);
    renamed = true;
    return { type: "written", path, version: fileVersion(await Deno.lstat(path)) };
  } finally {
    file?.close();
    if (!renamed) await removeQuietly(temporary);
  }
}

/** Creates missing folders one by one, so that a link put in place meanwhile is noticed. */
async function makeFolders(path: string): Promise<string | null> {
  const missing: string[] = [];
  for (let folder = path; (await followLinks(folder)).info === null; folder = dirname(folder)) {
    missing.push(folder);
  }
  for (const folder of missing.reverse()) {
    try {
      await Deno.mkdir(folder);
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
    if ((await followLinks(folder)).path !== folder) {
      return `Cannot create the folder "${folder}" as a link took its place meanwhile`;
    }
  }
  return null;
}

async function writeAll(file: Deno.FsFile, data: Uint8Array): Promise<void> {
  for (let done = 0; done < data.length;) done += await file.write(data.subarray(done));
}

async function keepOwnerAndMode(
  path: string,
  old: Deno.FileInfo,
  own: Deno.FileInfo,
): Promise<void> {
  if (old.uid !== own.uid || old.gid !== own.gid) {
    try {
      await Deno.chown(path, old.uid, old.gid);
    } catch {
      // Only root may give a file away. The content is what was asked for, so go on.
    }
  }
  if (old.mode !== null && own.mode !== null && (old.mode & 0o777) !== (own.mode & 0o777)) {
    await Deno.chmod(path, old.mode & 0o777);
  }
}

async function removeQuietly(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch {
    // It was never created, or its folder is gone: nothing is left behind either way.
  }
}

function isExpected(info: Deno.FileInfo | null, replaces: string | null): boolean {
  return info === null ? replaces === null : replaces === fileVersion(info);
}

function isSame(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

function failed(check: Exclude<WriteCheck, { type: "allowed" }>): AtomicWriteResult {
  return { type: "failed", message: check.message };
}
