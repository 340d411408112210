import { basename, dirname, join } from "node:path";
import { existing, isInside } from "./_protected_paths.ts";
import type { GuardedPaths } from "./guarded_paths.ts";

/**
 * Makes harmless what commands created at protected paths that did not exist when they began.
 *
 * `git init` in the workspace is a fair thing to do, and nothing can be mounted over a `.git` that is
 * not there yet; but a hook or a `core.fsmonitor` planted on the way would run later, outside the
 * sandbox, when the user runs git. So once the command is over, new hooks are no longer executable
 * (git then passes over them), of a new `config` only settings stay that run nothing, and a new
 * pointer to a repository that the next command could write to unseen is removed. The next command
 * finds the rest read-only.
 *
 * Nothing of the session may run meanwhile: this program follows the path with rights of its own.
 * What a link leads out of the roots is left alone for that reason, and because commands cannot
 * have written it.
 *
 * @param before What was protected when the first of the commands began.
 * @param after What has to be protected now.
 * @returns The paths that were changed.
 */
export function sealNewPaths(before: GuardedPaths, after: GuardedPaths): string[] {
  const roots = after.policy.writableRoots.map(existing).filter((root) => root !== undefined);
  const inRoots = (path: string) => {
    const real = existing(path);
    return real !== undefined && roots.some((root) => isInside(real, root));
  };
  const changed: string[] = [];
  for (const [pointer, target] of after.pointers) {
    const isNew = !before.pointers.has(pointer) || before.pointers.get(pointer) !== target;
    if (!isNew || !inRoots(dirname(pointer)) || target !== undefined && inRoots(target)) continue;
    if (attempt(() => Deno.removeSync(pointer))) changed.push(pointer);
  }
  for (const [path, real] of after.present) {
    if (before.present.get(path) === real || after.pointers.has(path) || !inRoots(dirname(path))) {
      continue;
    }
    const isConfig = /^config(?:\.worktree)?$/.test(basename(path));
    if (attempt(() => isConfig ? sealConfig(path) : disarm(path))) changed.push(path);
  }
  return changed;
}

function attempt(change: () => boolean | void): boolean {
  try {
    return change() ?? true;
  } catch {
    // Gone meanwhile, or not ours to change: then it is no ordinary repository of the user's.
    return false;
  }
}

/** Takes the right to be executed from everything in a folder; a link to one is removed. */
function disarm(path: string): boolean {
  const info = Deno.lstatSync(path);
  if (info.isSymlink) {
    Deno.removeSync(path);
    return true;
  }
  if (!info.isDirectory) return disarmFile(path, info);
  let changed = false;
  for (const entry of Deno.readDirSync(path)) {
    // Git's own samples do not run under their names.
    if (entry.name.endsWith(".sample") && entry.isFile) continue;
    const inner = join(path, entry.name);
    // One that cannot be changed, as its path is too long, must not save the others.
    changed = attempt(() => disarm(inner)) || changed;
  }
  return changed;
}

function disarmFile(path: string, info: Deno.FileInfo): boolean {
  const mode = info.mode ?? 0;
  if ((mode & 0o111) === 0) return false;
  Deno.chmodSync(path, mode & 0o666);
  return true;
}

/** Rewrites a git configuration without what could run a program; false where there is nothing of that. */
function sealConfig(path: string): boolean {
  const info = Deno.lstatSync(path);
  if (info.isDirectory) {
    // Git reads none. It is moved away: removing a tree takes time, and a stack as deep as the tree.
    Deno.renameSync(path, `${path}.${crypto.randomUUID()}`);
    return true;
  }
  if (!info.isFile) {
    Deno.removeSync(path);
    return true;
  }
  const text = info.size > MAX_CONFIG ? undefined : Deno.readTextFileSync(path);
  const safe = harmlessConfig(text ?? "");
  if (safe === text) return false;
  // The old name is given up first: another hard link to it would stay writable.
  Deno.removeSync(path);
  Deno.writeTextFileSync(path, safe, { createNew: true });
  return true;
}

/** What is longer is no configuration that somebody wrote. In bytes. */
const MAX_CONFIG = 1_000_000;

const SECTION = /^\s*\[([\w.-]+)(?:\s+"(?:[^"\\\n]|\\.)*")?\]\s*$/;
const SETTING = /^\s*([\w-]+)\s*(?:=\s*(.*))?$/;

/** Settings that name no program and no other file. In lower case, as git compares them. */
const HARMLESS: Readonly<Record<string, RegExp>> = {
  core:
    /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|quotepath)$/,
  user: /^(?:name|email)$/,
  init: /^defaultbranch$/,
  branch: /^(?:remote|merge|rebase|description)$/,
  remote: /^(?:url|pushurl|fetch|tagopt)$/,
  pull: /^(?:rebase|ff)$/,
  push: /^(?:default|autosetupremote)$/,
  color: /^ui$/,
  commit: /^gpgsign$/,
  extensions: /^objectformat$/,
};

/** The lines of a git configuration that run nothing. */
function harmlessConfig(text: string): string {
  let section = "";
  const kept = text.split("\n").filter((line) => {
    if (line.trim() === "") return true;
    const header = SECTION.exec(line);
    if (header) {
      section = header[1]!.toLowerCase();
      return Object.hasOwn(HARMLESS, section);
    }
    const [, key = "", value = ""] = SETTING.exec(line) ?? [];
    // A value that goes on in the next line, or a transport helper (`ext::sh -c ...`).
    if (value.endsWith("\\") || value.replaceAll('"', "").includes("::")) return false;
    return Object.hasOwn(HARMLESS, section) && HARMLESS[section]!.test(key.toLowerCase());
  });
  return kept.join("\n");
}
