/** Who runs below a process, as Linux tells where its permissions allow. */

/** The children of a process that are no zombies; undefined where they cannot be seen. */
export function liveChildren(pid: number): number[] | undefined {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`)
      .split(" ")
      .filter((word) => word !== "" && isAlive(word))
      .map(Number);
  } catch {
    // It is gone, or its children are not ours to see.
    return undefined;
  }
}

/** The first process of the PID namespace that a `bwrap` process made. */
export function namespaceInit(bwrap: number): number | undefined {
  return liveChildren(bwrap)?.[0];
}

function isAlive(pid: string): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const state = stat.charAt(stat.lastIndexOf(")") + 2);
    return state !== "Z" && state !== "X";
  } catch {
    // It ended in the meantime.
    return false;
  }
}
