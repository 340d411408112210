/** Decides whether a file tool's write needs the user: before the call is dispatched. */
import { dirname } from "node:path";
import { checkWrite } from "./check_write.ts";
import { describeFileError } from "./_file_error.ts";
import { followLinks, type RealPlace } from "./_follow_links.ts";
import type { Authorization, AuthorizeContext } from "./tool.ts";

/** A write as a file tool means to do it. */
export interface IntendedWrite {
  /** Absolute; links not followed yet. */
  readonly path: string;
  /** Why the call would fail even if the user agreed, if it would: nobody is asked then. */
  readonly problem: (place: RealPlace) => Promise<string | undefined> | string | undefined;
}

/**
 * Lets through what the policy allows. What lies outside of the writable roots is asked about: one
 * agreement makes the one file it really leads to writable, for this call; an "always" covers
 * further files of the same real folder. Protected paths and read-only mode are never asked about.
 */
export async function authorizeWrite(
  write: IntendedWrite,
  { policy }: Pick<AuthorizeContext, "policy">,
): Promise<Authorization> {
  const check = await checkWrite(write.path, policy);
  // What fails is for the body to report.
  if (check.type !== "refused") return { type: "allow" };
  if (policy.mode !== "workspace-write") return { type: "deny", message: check.message };
  let place: RealPlace;
  try {
    place = await followLinks(write.path);
  } catch (error) {
    return { type: "deny", message: describeFileError("write", write.path, error) };
  }
  const wider = { ...policy, writableRoots: [...policy.writableRoots, place.path] };
  const widened = await checkWrite(write.path, wider);
  // A protected path stays what it is, whoever asks.
  if (widened.type !== "allowed") return { type: "deny", message: widened.message };
  if (policy.canWrite?.(place.path) === false) return { type: "deny", message: notGranted(place) };
  const problem = await write.problem(place);
  if (problem !== undefined) return { type: "deny", message: problem };
  const folder = dirname(place.path);
  const via = place.path === write.path ? "" : ` (through "${write.path}")`;
  return {
    type: "ask",
    reason: `write outside the workspace: "${place.path}"${via}`,
    scope: { key: `write:${folder}`, label: `writing in ${folder}` },
    policy: wider,
  };
}

function notGranted({ path }: RealPlace): string {
  return `Cannot write "${path}" as Deno lets this program write only where --allow-write says: ` +
    "accepted would be a path inside the workspace";
}
