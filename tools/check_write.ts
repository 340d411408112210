/** Decides whether the session's sandbox policy lets a file tool write to a path. */
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { describeFileError } from "./_file_error.ts";
import { followLinks, type RealPlace } from "./_follow_links.ts";
import type { SandboxMode, SandboxPolicy } from "./sandbox_policy.ts";

/** Whether a write may go ahead. */
export type WriteCheck =
  /** It may. `path` is the file it reaches once all links are followed, existing or not. */
  | { readonly type: "allowed"; readonly path: string; readonly info: Deno.FileInfo | null }
  /** The policy forbids it. `message` says why, and what would be accepted. */
  | { readonly type: "refused"; readonly mode: SandboxMode; readonly message: string }
  /** The path leads nowhere: a circle of links, a file as parent, a missing permission. */
  | { readonly type: "failed"; readonly message: string };

/**
 * Follows the links of an absolute path and holds the place they lead to against the policy.
 * Writable roots and protected paths are compared both by name and by identity (device and inode),
 * so another spelling on a file system that ignores case does not slip through. A writable root that
 * is a file, or does not exist yet, makes that one path writable. Below a writable root nothing named
 * `.git`, and nothing in it, is written: git runs programs that are named there.
 *
 * The answer is true for the moment it is given. A writer asks again just before it commits.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { checkWrite } from "@dsh/acp/tools";
 *
 * const check = await checkWrite("/etc/hosts", {
 *   mode: "read-only",
 *   writableRoots: [],
 *   protectedPaths: [],
 *   network: "on",
 *   enforcement: "sandbox",
 * });
 * assertEquals(check.type, "refused");
 * ```
 */
export async function checkWrite(path: string, policy: SandboxPolicy): Promise<WriteCheck> {
  if (!isAbsolute(path)) {
    return { type: "failed", message: `Cannot check a write as "${path}" is not an absolute path` };
  }
  if (policy.mode === "read-only") {
    return refused(path, policy, "no writes at all", "a mode that allows writing");
  }
  try {
    const place = await followLinks(path);
    if (policy.mode === "danger-full-access") return { type: "allowed", ...place };
    policy.mode satisfies "workspace-write";
    return await checkWorkspace(path, place, policy);
  } catch (error) {
    return { type: "failed", message: describeFileError("write", path, error) };
  }
}

async function checkWorkspace(
  path: string,
  place: RealPlace,
  policy: SandboxPolicy,
): Promise<WriteCheck> {
  const ancestors = await existingAncestors(place);
  const via = place.path === path ? "" : ` (it leads to "${place.path}")`;
  const roots = policy.writableRoots.map((root) => `"${root}"`).join(", ") || "no folder";

  let inside = false;
  for (const root of policy.writableRoots) {
    const real = await followLinks(root);
    if (place.path === real.path) {
      // A folder itself is excluded: replacing it would write into its parent. A root that is a
      // file, or nothing yet, is that one file.
      inside ||= real.info === null || real.info.isFile;
      continue;
    }
    const below = ancestors.slice(place.info === null ? 0 : 1);
    inside ||= contains(real, place.path, below, exactly);
  }
  if (!inside) {
    return refused(`${path}`, policy, `writes only inside ${roots}${via}`, "a path inside it");
  }

  const repository = repositoryOf(
    place.path,
    await Promise.all(policy.writableRoots.map(followLinks)),
  );
  if (repository !== undefined) {
    const limit = `no writes to "${repository}"${via}`;
    return refused(path, policy, limit, "a git command that changes it");
  }
  for (const protectedPath of policy.protectedPaths) {
    const real = await followLinks(protectedPath);
    // A file in place of the folder that holds a protected path would replace that path too.
    if (
      contains(real, place.path, ancestors, caseless) ||
      isWithin(caseless(place.path), caseless(real.path))
    ) {
      const limit = `no writes to "${protectedPath}"${via}`;
      return refused(path, policy, limit, `another path inside ${roots}`);
    }
  }
  return { type: "allowed", ...place };
}

/** The `.git` that holds the path: git runs programs that are named there. Only git writes to it. */
function repositoryOf(path: string, roots: readonly RealPlace[]): string | undefined {
  const root = roots.find((one) => isWithin(one.path, path));
  if (root === undefined) return undefined;
  const names = relative(root.path, path).split(sep);
  const index = names.findIndex((name) => caseless(name) === ".git");
  return index < 0 ? undefined : join(root.path, ...names.slice(0, index + 1));
}

function refused(path: string, policy: SandboxPolicy, limit: string, accepted: string): WriteCheck {
  const next = policy.mode === "read-only" ? "" : ', or the mode "danger-full-access"';
  return {
    type: "refused",
    mode: policy.mode,
    message: `Cannot write "${path}" as the sandbox mode "${policy.mode}" allows ${limit}: ` +
      `accepted would be ${accepted}${next}`,
  };
}

function contains(
  real: RealPlace,
  path: string,
  ancestors: readonly Deno.FileInfo[],
  spelling: (path: string) => string,
): boolean {
  return isWithin(spelling(real.path), spelling(path)) ||
    ancestors.some((info) => real.info !== null && isSame(info, real.info));
}

function exactly(path: string): string {
  return path;
}

/** Some file systems hold `.git/Hooks` and `.git/hooks` for one folder. Refusing both harms nobody. */
function caseless(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** Compares whole path segments: `..cache` is a name like any other. */
export function isWithin(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

function isSame(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return Boolean(a.ino) && a.ino === b.ino && a.dev === b.dev;
}

/** What exists on the way from the place itself up to the root, nearest first. */
async function existingAncestors(place: RealPlace): Promise<Deno.FileInfo[]> {
  const infos = place.info ? [place.info] : [];
  let path = place.path;
  for (let parent = dirname(path); parent !== path; parent = dirname(path)) {
    path = parent;
    try {
      infos.push(await Deno.lstat(path));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return infos;
}
