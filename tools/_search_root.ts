/** Where a search starts, and how its results are written. */
import { relative, sep } from "node:path";
import { isWithin } from "./check_write.ts";
import { describeFileError, describeKind } from "./_file_error.ts";
import { followLinks, toAbsolute } from "./_follow_links.ts";
import { missingFile } from "./_path_rules.ts";

/** The folder or file that is searched. */
export type SearchRoot =
  | { readonly type: "folder"; readonly path: string }
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "failed"; readonly message: string };

/** Finds what to search. `path` is as the model gave it; absent, the working directory. */
export async function findSearchRoot(path: string | undefined, cwd: string): Promise<SearchRoot> {
  const shown = path ?? cwd;
  const absolute = toAbsolute(shown, cwd);
  try {
    const place = await followLinks(absolute);
    if (place.info === null) {
      return { type: "failed", message: await missingFile("search", shown, absolute) };
    }
    if (place.info.isDirectory) return { type: "folder", path: place.path };
    if (place.info.isFile) return { type: "file", path: place.path };
    const kind = describeKind(place.info);
    return {
      type: "failed",
      message: `Cannot search "${shown}" as it must be a folder or a regular file: it is ${kind}`,
    };
  } catch (error) {
    return { type: "failed", message: describeFileError("search", shown, error) };
  }
}

/** Writes a path for the model: relative to the working directory where it lies inside. */
export function shortenPath(path: string, realCwd: string): string {
  return isWithin(realCwd, path) ? relative(realCwd, path) || "." : path;
}

/** Writes a relative path with `/` between its names, as globs and ignore files want it. */
export function toSlashes(path: string): string {
  return (sep === "\\" ? path.replaceAll("\\", "/") : path).replace(/^(\.?\/)+/, "");
}

/** How long a search may take, in milliseconds. */
export const SEARCH_TIMEOUT = 30_000;

/** A signal that aborts when the call is cancelled or the time of a search is up. */
export function searchSignal(
  cancelled: AbortSignal,
): Disposable & { readonly signal: AbortSignal; readonly timedOut: boolean } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), SEARCH_TIMEOUT);
  return {
    signal: AbortSignal.any([cancelled, controller.signal]),
    get timedOut() {
      return controller.signal.aborted;
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
