import { dirname, join, relative, sep } from "node:path";

/** One mount that keeps a protected path as it is. */
export type ProtectingMount =
  /** The path stays writable but cannot be moved away: a mount point cannot be renamed. */
  | { readonly type: "pin"; readonly path: string }
  /** Nothing below the path can be written. */
  | { readonly type: "seal"; readonly path: string };

/**
 * The mounts that keep `protectedPaths` read-only inside `roots`, outermost first.
 *
 * Making `.git/hooks` read-only is not enough, since `mv .git x` would move it out of the way: its
 * parents up to the root are pinned. In a linked worktree `.git` is a file, and that file is
 * sealed. A path that does not exist yet, in a folder that does, is made, empty, so that it can be
 * sealed; one whose folder does not exist either is left to {@linkcode sealNewPaths}. A path that is
 * itself a symbolic link cannot be pinned: what it points to is sealed.
 *
 * @param roots Absolute real paths of the writable folders.
 */
export function protectingMounts(
  roots: readonly string[],
  protectedPaths: readonly string[],
): ProtectingMount[] {
  const mounts = new Map<string, ProtectingMount>();
  for (const path of protectedPaths) {
    for (const mount of mountsFor(path, roots)) {
      if (mounts.get(mount.path)?.type !== "seal") mounts.set(mount.path, mount);
    }
  }
  return [...mounts.values()].sort((a, b) => a.path.length - b.path.length);
}

function mountsFor(path: string, roots: readonly string[]): ProtectingMount[] {
  const target = existing(path) ?? makeEmpty(path) ?? fileAbove(path);
  if (target === undefined) return [];
  const root = roots.find((one) => isInside(target, one));
  if (root === undefined) return [{ type: "seal", path: target }];
  const mounts: ProtectingMount[] = [];
  for (let at = dirname(target); at !== root && isInside(at, root); at = dirname(at)) {
    mounts.push({ type: "pin", path: at });
  }
  return [...mounts, { type: "seal", path: target }];
}

/** The real path, if there is something. */
export function existing(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    // Missing, or below a file.
    return undefined;
  }
}

/** Makes an empty folder, or an empty file for a `config`, where only the last name is missing. */
function makeEmpty(path: string): string | undefined {
  const folder = existing(dirname(path));
  if (folder === undefined) return undefined;
  const made = join(folder, path.slice(dirname(path).length).replaceAll(sep, ""));
  try {
    if (made.endsWith(`${sep}config`)) {
      Deno.openSync(made, { write: true, createNew: true }).close();
    } else Deno.mkdirSync(made);
    return made;
  } catch {
    // The folder is a file, or not writable for this user, and then not for a command either.
    return undefined;
  }
}

/** The nearest parent, if it is a file: `.git` of a linked worktree. */
function fileAbove(path: string): string | undefined {
  const parent = dirname(path);
  try {
    return Deno.statSync(parent).isFile ? Deno.realPathSync(parent) : undefined;
  } catch {
    // There is no parent either.
    return undefined;
  }
}

/** Tells whether `path` is `folder` or lies in it; both absolute. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}
