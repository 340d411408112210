import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import { existing, isInside, protectingMounts } from "./_protected_paths.ts";
import type { ServiceMasks } from "./service_masks.ts";

/** Options for {@linkcode bubblewrapArgs}. */
export interface BubblewrapOptions {
  /** What the command may write and reach. */
  readonly policy: SandboxPolicy;
  /** Where the command runs: absolute. */
  readonly cwd: string;
  /** The session's folder for temporary files: writable in every mode, and `/tmp` inside. */
  readonly tmpDir?: string;
  /**
   * Whether commands run as root, which costs more mounts.
   *
   * @default {true}
   */
  readonly root?: boolean;
  /** What is hidden besides the policy's own masked paths. @default nothing */
  readonly services?: ServiceMasks;
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
 * Files of the kernel that root could write without a capability, by owning them: a
 * `core_pattern` runs a program outside. Bubblewrap covers them only where they look writable.
 */
const KERNEL = [
  "sys",
  "sysrq-trigger",
  "irq",
  "bus",
  "fs",
  "scsi",
  "acpi",
  "mtrr",
  "dynamic_debug",
].map((name) => `/proc/${name}`);

/**
 * The arguments of `bwrap` up to the command.
 *
 * - Full access: containment only. The whole tree with its devices is as writable as outside, and
 *   root keeps its capabilities. Three things still differ from an uncontained command, and none can
 *   be had with a PID namespace of bubblewrap's: set-user-ID programs such as `sudo` gain nothing,
 *   processes outside are not visible, and `/proc/sys` is read-only.
 * - Otherwise the tree is read-only except for the policy's roots and the private temporary
 *   folder. That folder is also `/tmp` inside, because programs and models write to `/tmp` whatever
 *   `TMPDIR` says, unless the command works somewhere in the host's `/tmp`: then that stays what it
 *   is, read-only, so that the neighbours of the workspace can be read.
 */
export function bubblewrapArgs(options: BubblewrapOptions): string[] {
  const { policy, tmpDir } = options;
  const cwd = existing(options.cwd) ?? options.cwd;
  if (policy.mode === "danger-full-access") {
    return ["--dev-bind", "/", "/", "--proc", "/proc", ...CONTAIN, "--chdir", cwd];
  }
  const all = realPaths(policy.writableRoots);
  const roots = policy.mode === "workspace-write" ? all : [];
  const args = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  if (options.root ?? true) {
    for (const path of KERNEL) args.push("--ro-bind-try", path, path);
  }
  const tmp = tmpDir === undefined ? undefined : existing(tmpDir);
  const shown = [...roots, ...tmp === undefined ? [] : [tmp]];
  const masks = [...options.services?.masked ?? [], ...realPaths(policy.maskedPaths ?? [])];
  const kept = options.services?.kept ?? [];
  const around = masks.filter((mask) => shown.some((path) => isInside(path, mask)));
  for (const path of around) args.push(...maskArgs(path, kept));
  if (tmp !== undefined && !worksInTmp([cwd, ...all])) args.push("--bind", tmp, "/tmp");
  for (const root of roots) args.push("--bind", root, root);
  for (const mount of protectingMounts(roots, policy.protectedPaths)) {
    args.push(mount.type === "pin" ? "--bind" : "--ro-bind", mount.path, mount.path);
  }
  // Last, since it may lie in the agent's own folder.
  if (tmp !== undefined) args.push("--bind", tmp, tmp);
  for (const path of realPaths(options.readable ?? [])) args.push("--ro-bind", path, path);
  for (const path of masks) if (!around.includes(path)) args.push(...maskArgs(path, kept));
  for (const path of masks) if (isFolder(path)) args.push("--remount-ro", path);
  if (policy.network === "off") args.push("--unshare-net");
  return [...args, ...CONTAIN, ...CONFINE, "--chdir", cwd];
}

/** Covers a folder with an empty one, and anything else with what cannot be opened. */
function maskArgs(path: string, kept: readonly string[]): string[] {
  if (!isFolder(path)) return ["--ro-bind", "/dev/null", path];
  const again = kept.filter((one) => isInside(one, path)).flatMap((one) => ["--ro-bind", one, one]);
  return ["--tmpfs", path, ...again];
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    // Gone since it was found: bubblewrap then says so, and the command does not run.
    return false;
  }
}

/** Whether one of the paths lies in the host's `/tmp`, or contains it. */
function worksInTmp(paths: readonly string[]): boolean {
  const tmp = existing("/tmp") ?? "/tmp";
  return paths.some((path) => isInside(path, tmp) || isInside(tmp, path));
}

/** Outermost first: a later mount covers an earlier one. */
function realPaths(paths: readonly string[]): string[] {
  const real = paths.map(existing).filter((path) => path !== undefined);
  return [...new Set(real)].sort((a, b) => a.length - b.length);
}
