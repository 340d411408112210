/**
 * Whether a process of this group still runs. A zombie does not: it takes signals until its
 * parent reaps it, and in a container without an init that may be never.
 *
 * @returns true also where `/proc` cannot be read.
 */
export function isGroupAlive(group: number): boolean {
  try {
    for (const entry of Deno.readDirSync("/proc")) {
      if (/^\d+$/.test(entry.name) && runsInGroup(entry.name, group)) return true;
    }
    return false;
  } catch {
    // No /proc here, or not for us.
    return true;
  }
}

function runsInGroup(pid: string, group: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    // The name in parentheses may hold anything; after it: state, parent, group.
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(processGroup) === group && state !== "Z" && state !== "X";
  } catch {
    // It ended in the meantime.
    return false;
  }
}
