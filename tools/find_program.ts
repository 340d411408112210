/** Finding the programs that run outside of any sandbox. */
import { isAbsolute, join } from "node:path";
import { isWithin } from "./check_write.ts";

/**
 * Finds a program on a `PATH`, where nobody who is fenced in could have put it: relative folders
 * and those inside `avoid` are passed over, links resolved.
 *
 * @param name A file name, or an absolute path, which is returned as it is.
 * @param path The value of `PATH`.
 * @param avoid Absolute folders that commands may write to.
 * @returns An absolute path, or undefined where there is none. Where Deno may not look, the name:
 * it then runs only what `--allow-run` named, which it looked up when it started.
 */
export function findProgram(
  name: string,
  path: string,
  avoid: readonly string[] = [],
): string | undefined {
  if (isAbsolute(name)) return name;
  if (!canLook(path)) return name;
  const closed = avoid.map((folder) => realPath(folder) ?? folder);
  for (const folder of path.split(":")) {
    const program = isAbsolute(folder) ? join(folder, name) : undefined;
    const real = program && realPath(program);
    if (!program || !real || !isExecutable(real)) continue;
    const isOpen = (root: string) => isWithin(root, real) || isWithin(root, program);
    const parent = realPath(folder);
    if (![...closed, ...avoid].some((root) => isOpen(root) || isWithin(root, parent ?? folder))) {
      return program;
    }
  }
  return undefined;
}

function canLook(path: string): boolean {
  return path.split(":").filter(isAbsolute).every((folder) =>
    Deno.permissions.querySync({ name: "read", path: folder }).state === "granted"
  );
}

function realPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    // It is not there, or not ours to see: not a program for us.
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile && (mode === null || (mode & 0o111) !== 0);
  } catch {
    // It went in the meantime.
    return false;
  }
}
