import { dirname } from "node:path";
import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import { isInside } from "./_protected_paths.ts";

/** Options for {@linkcode seatbeltProfile}. All paths are real paths: Seatbelt compares those. */
export interface SeatbeltOptions {
  /** What the command may write and reach. */
  readonly policy: SandboxPolicy;
  /** The session's folder for temporary files: writable in every mode. */
  readonly tmpDir?: string;
}

/** Devices that a command writes to without writing a file. */
const DEVICES = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/ptmx"];

/**
 * A profile for macOS's `sandbox-exec -p`: everything may be read, only the policy's roots and the
 * temporary folder written, and of a protected path neither the contents nor the way to it.
 * The last rule that matches wins.
 */
export function seatbeltProfile(options: SeatbeltOptions): string {
  const { policy, tmpDir } = options;
  if (policy.mode === "danger-full-access") return "(version 1)\n(allow default)\n";
  const roots = policy.mode === "workspace-write" ? policy.writableRoots : [];
  const writable = [...roots, ...tmpDir === undefined ? [] : [tmpDir]];
  const lines = ["(version 1)", "(allow default)", "(deny file-write*)"];
  lines.push(`(allow file-write* ${DEVICES.map((path) => `(literal ${quote(path)})`).join(" ")})`);
  lines.push('(allow file-write* (regex #"^/dev/fd/") (regex #"^/dev/ttys[0-9]+$"))');
  for (const path of writable) lines.push(`(allow file-write* (subpath ${quote(path)}))`);
  for (const path of policy.protectedPaths) {
    lines.push(`(deny file-write* (subpath ${quote(path)}))`);
    for (const parent of parentsWithin(path, roots)) {
      lines.push(`(deny file-write-unlink (literal ${quote(parent)}))`);
    }
  }
  for (const path of policy.maskedPaths ?? []) {
    lines.push(`(deny file-read* (subpath ${quote(path)}))`);
  }
  if (policy.network === "off") lines.push("(deny network*)");
  return lines.join("\n") + "\n";
}

/** The folders between a protected path and its root: renaming one would move the path away. */
function parentsWithin(path: string, roots: readonly string[]): string[] {
  const root = roots.find((one) => isInside(path, one));
  if (root === undefined) return [];
  const parents: string[] = [];
  for (let at = dirname(path); at !== root && isInside(at, root); at = dirname(at)) {
    parents.push(at);
  }
  return parents;
}

function quote(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
