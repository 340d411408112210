/** Where paths lead. */
import { relative, sep } from "node:path";

/** The path with links resolved, or undefined where there is nothing to be looked at. */
export async function realPath(path: string): Promise<string | undefined> {
  try {
    return await Deno.realPath(path);
  } catch {
    // Missing, a link to nothing, or not to be looked at.
    return undefined;
  }
}

/** Whether a path is a folder or lies in it; both with links resolved. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}
