/** What a session's calls may write and reach, under what Deno grants the process. */
import type { PermissionPreset } from "../session/permission_presets.ts";
import type { SandboxMode, SandboxPolicy } from "../tools/sandbox_policy.ts";
import type { Grants } from "./_grants.ts";

/** What all sessions of the process share. */
export interface PolicyOptions {
  readonly grants: Pick<Grants, "noFullAccess" | "canWrite">;
  readonly network: "on" | "off";
  /** Absolute paths of what is the agent's own: never written by a call. */
  readonly ownPaths: readonly string[];
  /** Absolute paths of what holds keys: not read by a call either. */
  readonly secretPaths: readonly string[];
}

/**
 * Makes a session's policy: the workspace, less what is the agent's own. A mode that
 * Deno's permissions cannot honour becomes the next narrower one, so that a sandbox runner, which
 * is free to write, never does what this process may not.
 *
 * @param cwd The session's working directory, absolute.
 * @param directories Other folders it works in.
 */
export function sessionPolicy(
  { grants, network, ownPaths, secretPaths }: PolicyOptions,
  cwd: string,
  directories: readonly string[] = [],
): (mode: SandboxMode) => SandboxPolicy {
  const writable = grants.canWrite(cwd);
  return (mode) => ({
    mode: honoured(mode, grants, writable),
    writableRoots: [cwd, ...directories.filter(grants.canWrite)],
    protectedPaths: ownPaths,
    maskedPaths: secretPaths,
    canWrite: grants.canWrite,
    network,
    enforcement: "sandbox",
  });
}

/** The presets that can be honoured in a working directory. */
export function offeredPresets(
  presets: readonly PermissionPreset[],
  { noFullAccess, canWrite }: PolicyOptions["grants"],
  cwd: string,
): PermissionPreset[] {
  const writable = canWrite(cwd);
  return presets.filter(({ sandboxMode }) =>
    honoured(sandboxMode, { noFullAccess }, writable) === sandboxMode
  );
}

function honoured(
  mode: SandboxMode,
  { noFullAccess }: Pick<Grants, "noFullAccess">,
  writable: boolean,
): SandboxMode {
  if (mode === "danger-full-access" && noFullAccess === undefined) return mode;
  return mode === "read-only" || !writable ? "read-only" : "workspace-write";
}
