import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import { existing, isInside, protectingMounts } from "./_protected_paths.ts";

/** Options for {@linkcode bubblewrapArgs}. */
export interface BubblewrapOptions {
  readonly policy: SandboxPolicy;
  /** Where the command runs: absolute. */
  readonly cwd: string;
  /** The session's folder for temporary files: writable in every mode, and `/tmp` inside. */
  readonly tmpDir?: string;
  /** Folders that stay readable although `/tmp` is another one inside. */
  readonly readable?: readonly string[];
}

/**
 * Common to all modes. The PID namespace is what nothing escapes; its first process is the warden of
 * `start_shell.ts`, which saves one of bubblewrap's own. A session of its own keeps a TERM for
 * the command away from bubblewrap.
 */
const CONTAIN = ["--unshare-pid", "--as-pid-1", "--die-with-parent", "--new-session"];

/**
 * A root user inside keeps no capability and gets none from a nested namespace: otherwise
 * `mount -o remount,bind,rw /` would open the tree again.
 */
const CONFINE = ["--unshare-user", "--disable-userns", "--cap-drop", "ALL"];

/**
 * The arguments of `bwrap` up to the command.
 *
 * - Full access: containment only. The whole tree with its devices is as writable as outside, and
 *   root keeps its capabilities. Three things still differ from an uncontained command, and none can
 *   be had with a PID namespace of bubblewrap's: set-user-ID programs such as `sudo` gain nothing,
 *   processes outside are not visible, and `/proc/sys` is read-only.
 * - Otherwise the tree is read-only except for the policy's roots and the private temporary
 *   folder, which is also `/tmp`: programs and models write to `/tmp` whatever `TMPDIR` says, and the
 *   host's stays out of reach.
 */
export function bubblewrapArgs(options: BubblewrapOptions): string[] {
  const { policy, cwd, tmpDir } = options;
  if (policy.mode === "danger-full-access") {
    return ["--dev-bind", "/", "/", "--proc", "/proc", ...CONTAIN, "--chdir", cwd];
  }
  const all = realPaths(policy.writableRoots);
  const roots = policy.mode === "workspace-write" ? all : [];
  const args = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  const tmp = tmpDir === undefined ? undefined : existing(tmpDir);
  if (tmp !== undefined && !roots.some((root) => isInside("/tmp", root))) {
    args.push("--bind", tmp, "/tmp");
  }
  for (const path of realPaths([cwd, ...all])) args.push("--ro-bind", path, path);
  for (const root of outermostFirst(roots)) args.push("--bind", root, root);
  for (const mount of protectingMounts(roots, policy.protectedPaths)) {
    args.push(mount.type === "pin" ? "--bind" : "--ro-bind", mount.path, mount.path);
  }
  // Last, since it may lie in the agent's own folder.
  if (tmp !== undefined) args.push("--bind", tmp, tmp);
  for (const path of realPaths(options.readable ?? [])) args.push("--ro-bind", path, path);
  if (policy.network === "off") args.push("--unshare-net");
  return [...args, ...CONTAIN, ...CONFINE, "--chdir", cwd];
}

function realPaths(paths: readonly string[]): string[] {
  return outermostFirst([
    ...new Set(paths.map(existing).filter((path) => path !== undefined)),
  ]);
}

function outermostFirst(paths: readonly string[]): string[] {
  return [...paths].sort((a, b) => a.length - b.length);
}
