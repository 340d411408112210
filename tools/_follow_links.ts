/** Where a path leads once every link is followed, also if its end does not exist yet. */
import { dirname, isAbsolute, join, parse, sep } from "node:path";

/** The real place of a path. */
export interface RealPlace {
  /** Absolute, without links, `.` and `..`. */
  readonly path: string;
  /** What is there, or null where nothing is. */
  readonly info: Deno.FileInfo | null;
}

/** The limit of Linux on links in one path (path_resolution(7)). */
const MAX_LINKS = 40;
const SEPARATORS = sep === "\\" ? /[\\/]+/ : /\/+/;

/**
 * Makes a path absolute without collapsing `..`: in `link/../x` that would name another file than
 * the one the system opens.
 */
export function toAbsolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : `${cwd}${sep}${path}`;
}

/** Tells whether the path can only name a folder, because it ends in a separator or a dot name. */
export function namesFolder(path: string): boolean {
  const last = path.split(SEPARATORS).at(-1);
  return last === "" || last === "." || last === "..";
}

/**
 * Follows every link of an absolute path, component by component, as the system would. Names that
 * do not exist are kept, so that the target of a dangling link is found too.
 *
 * @throws {Deno.errors.FilesystemLoop} If there are more than 40 links.
 * @throws {Deno.errors.NotADirectory} If a file stands where a folder is needed.
 * @throws {Deno.errors.NotCapable} If Deno's read permission does not cover a component.
 */
export async function followLinks(path: string): Promise<RealPlace> {
  const { root } = parse(path);
  const pending = path.slice(root.length).split(SEPARATORS).reverse();
  let current = root;
  let info: Deno.FileInfo | null = await lstat(current);
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "" || name === ".") continue;
    if (info !== null && !info.isDirectory) {
      throw new Deno.errors.NotADirectory(`"${current}" is not a folder`);
    }
    if (name === "..") {
      current = dirname(current);
      info = await lstat(current);
      continue;
    }
    const next = join(current, name);
    const found = info === null ? null : await lstat(next);
    if (!found?.isSymlink) {
      current = next;
      info = found;
      continue;
    }
    if (++links > MAX_LINKS) throw new Deno.errors.FilesystemLoop(`too many links in "${path}"`);
    const target = await Deno.readLink(next);
    const targetRoot = parse(target).root;
    pending.push(...target.slice(targetRoot.length).split(SEPARATORS).reverse());
    if (isAbsolute(target)) {
      current = targetRoot;
      info = await lstat(current);
    }
  }
  return { path: current, info };
}

async function lstat(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
