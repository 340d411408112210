import { basename, dirname, join } from "node:path";
import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import { existing, isInside } from "./_protected_paths.ts";
import { type GitPlaces, gitPlaces } from "./git_places.ts";

/** What a command must not write under a policy, as it is at one moment. */
export interface GuardedPaths extends GitPlaces {
  /** What they were found for. */
  readonly policy: SandboxPolicy;
  /** Those of the paths where there is something, with links resolved: a link can be replaced. */
  readonly present: ReadonlyMap<string, string>;
}

/**
 * The protected paths of a policy, and those in its writable folders that git runs something from.
 *
 * @param nested The repositories below a writable folder.
 */
export function guardedPaths(
  policy: SandboxPolicy,
  nested: (root: string) => readonly string[],
): GuardedPaths {
  const roots = policy.writableRoots.map(realPlace);
  const paths = new Set(policy.protectedPaths);
  const pointers = new Map<string, string | undefined>();
  for (const root of policy.writableRoots) {
    const places = gitPlaces(root, nested(root));
    for (const path of places.paths) {
      // The repository of a linked worktree lies elsewhere, and nothing can be written there.
      if (roots.some((one) => isInside(realPlace(path), one))) paths.add(path);
    }
    for (const [pointer, target] of places.pointers) pointers.set(pointer, target);
  }
  const present = new Map<string, string>();
  for (const path of paths) {
    const real = existing(path);
    if (real !== undefined) present.set(path, real);
  }
  return { policy, paths, present, pointers };
}

/** The path with the links of what exists of it resolved. */
function realPlace(path: string): string {
  const real = existing(path);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(realPlace(dirname(path)), basename(path));
}
