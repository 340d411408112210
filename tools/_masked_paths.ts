/** What a policy keeps file tools from reading. */
import { isWithin } from "./check_write.ts";
import { followLinks, type RealPlace } from "./_follow_links.ts";
import type { SandboxPolicy } from "./sandbox_policy.ts";

/** Tells whether places lie in what is masked: by name, and by identity for another hard link. */
export type MaskCheck = (place: RealPlace) => boolean;

/** Looks at the masked paths as they are now. Full access masks nothing. */
export async function maskCheck(policy: SandboxPolicy): Promise<MaskCheck> {
  if (policy.mode === "danger-full-access") return () => false;
  const masked = await Promise.all((policy.maskedPaths ?? []).map(placeOf));
  return ({ path, info }) =>
    masked.some((mask) =>
      isWithin(mask.path, path) ||
      info?.ino != null && info.ino === mask.info?.ino && info.dev === mask.info.dev
    );
}

async function placeOf(path: string): Promise<RealPlace> {
  try {
    return await followLinks(path);
  } catch {
    // Not to be looked at, so not to be read either; its name is kept from the tools all the same.
    return { path, info: null };
  }
}

/** Says that a path is masked. */
export function maskedMessage(verb: "read" | "search", shown: string): string {
  return `Cannot ${verb} "${shown}" as it holds secrets of this agent: no tool may read it`;
}
