import { dirname, join, resolve } from "node:path";
import { existing, isInside } from "./_protected_paths.ts";

/** How many repositories of one workspace are looked after. */
const MAX_REPOSITORIES = 64;

/** How many folders deep the name of a submodule goes. */
const MODULE_DEPTH = 4;

/**
 * How many folders with submodules and worktrees are looked into. Each costs mounts; where there are
 * more, what holds them is protected as one.
 */
const MAX_FOLDERS = 256;

/** How many lines of `.gitmodules` are followed. */
const MAX_SUBMODULES = 512;

/** No pointer of git's is as long; of `.gitmodules` no more is needed. In bytes. */
const MAX_BYTES = 256_000;

/** Where git finds what it runs; all paths absolute. */
export interface GitPlaces {
  /** What must not be written: hooks, configuration, and the files that say where these are. */
  readonly paths: ReadonlySet<string>;
  /** What leads elsewhere (`.git` as a file or link, `commondir`), and where to. */
  readonly pointers: ReadonlyMap<string, string | undefined>;
}

/**
 * Finds where git finds what it runs in the repositories of a folder. Whoever can write one of
 * these places has a program run by the next `git status` of the user, outside the sandbox.
 *
 * For each repository: `hooks` and `config`, whether they exist or not; `config.worktree`, `.git` as
 * a file and `commondir` where they exist, and what these lead to; the same for its submodules and
 * linked worktrees (gitrepository-layout(5)).
 *
 * @param root The workspace, repository or not.
 * @param nested Folders below it that are repositories too: {@linkcode nestedRepositories}.
 */
export function gitPlaces(root: string, nested: readonly string[] = []): GitPlaces {
  const paths = new Set<string>();
  const pointers = new Map<string, string | undefined>();
  let left = MAX_FOLDERS;

  function follow(pointer: string): void {
    if (pointers.has(pointer)) return;
    const target = pointedFolder(pointer);
    pointers.set(pointer, target);
    // A link cannot be mounted over, only what it leads to: it is looked at afterwards.
    if (kindOf(pointer) === "file") paths.add(pointer);
    else if (isFile(pointer)) paths.add(existing(pointer) ?? pointer);
    if (target !== undefined) addRepository(target);
  }

  function addRepository(folder: string): void {
    if (paths.has(join(folder, "config"))) return;
    paths.add(join(folder, "hooks")).add(join(folder, "config"));
    addWorktree(folder);
    const worktrees = join(folder, "worktrees");
    for (const name of foldersIn(worktrees)) {
      if (left-- <= 0) {
        paths.add(worktrees);
        break;
      }
      addWorktree(join(worktrees, name));
    }
    const modules = join(folder, "modules");
    if (!addModules(modules, MODULE_DEPTH)) paths.add(modules);
  }

  /** Only what exists: an empty `commondir`, made to be protected, would break the repository. */
  function addWorktree(folder: string): void {
    const config = join(folder, "config.worktree");
    if (kindOf(config) !== "missing") paths.add(config);
    const common = join(folder, "commondir");
    if (kindOf(common) !== "missing") follow(common);
  }

  /**
   * The name of a submodule may hold slashes, and its repository lies as deep. False where there
   * are too many.
   */
  function addModules(folder: string, depth: number): boolean {
    for (const name of depth > 0 ? foldersIn(folder) : []) {
      if (left-- <= 0) return false;
      const inner = join(folder, name);
      if (kindOf(join(inner, "HEAD")) !== "missing") addRepository(inner);
      else if (!addModules(inner, depth - 1)) return false;
    }
    return true;
  }

  for (const folder of [root, ...nested]) {
    const git = join(folder, ".git");
    switch (kindOf(git)) {
      case "file":
      case "link":
        follow(git);
        break;
      case "folder":
        addRepository(git);
        break;
      case "missing":
        addRepository(isBare(folder) ? folder : git);
    }
  }
  return { paths, pointers };
}

/**
 * The repositories a workspace consists of besides its own: folders directly in it, and its
 * submodules. Others lie in caches and build folders that commands must be able to remove, and
 * what holds a mount cannot be removed.
 */
export function nestedRepositories(root: string): string[] {
  const real = existing(root) ?? root;
  return [...new Set([...submodules(real), ...foldersIn(real)])]
    .map((path) => existing(join(real, path)))
    .filter((path) => path !== undefined && path !== real && isInside(path, real))
    .filter((path): path is string => kindOf(join(path!, ".git")) !== "missing")
    .slice(0, MAX_REPOSITORIES);
}

/** The paths in `.gitmodules` (gitmodules(5)). */
function submodules(root: string): string[] {
  try {
    const text = shortText(join(root, ".gitmodules")) ?? "";
    return [...text.matchAll(/^[ \t]*path[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*$/gm)]
      .slice(0, MAX_SUBMODULES).map((match) => match[1]!);
  } catch {
    // There are none.
    return [];
  }
}

/** The folder that a `.git` (`gitdir: path`, or a link) or a `commondir` names; it may be missing. */
function pointedFolder(pointer: string): string | undefined {
  try {
    // Git reads through a link to a file.
    const path = kindOf(pointer) === "link" && !isFile(pointer)
      ? Deno.readLinkSync(pointer)
      : /^(?:gitdir:)?[ \t]*([^\r\n]+)[\r\n]*$/.exec(shortText(pointer) ?? "")?.[1];
    if (path === undefined) return undefined;
    const target = resolve(dirname(pointer), path);
    return existing(target) ?? target;
  } catch {
    // Gone, or not to be read: git cannot follow it either.
    return undefined;
  }
}

/** Whether git takes the folder itself for a repository. */
function isBare(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => kindOf(join(folder, name)) !== "missing");
}

function kindOf(path: string): "missing" | "file" | "folder" | "link" {
  try {
    const info = Deno.lstatSync(path);
    return info.isSymlink ? "link" : info.isDirectory ? "folder" : "file";
  } catch {
    // Missing, or below a file.
    return "missing";
  }
}

/** Whether there is an ordinary file, links followed. */
function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    // Missing, or a link in a circle.
    return false;
  }
}

/** The text of an ordinary file. A pipe would be waited for, and all sessions with it. */
function shortText(path: string): string | undefined {
  const info = Deno.statSync(path);
  return info.isFile && info.size <= MAX_BYTES ? Deno.readTextFileSync(path) : undefined;
}

function foldersIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter((one) => one.isDirectory).map(({ name }) => name);
  } catch {
    // Missing, or not to be read.
    return [];
  }
}
