/** Looks at the processes of the machine, from /proc. */

/** The ids of the processes whose command line holds `mark`. */
export async function processesWith(mark: string): Promise<number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if ((await Deno.readTextFile(`/proc/${name}/cmdline`)).includes(mark)) {
        found.push(Number(name));
      }
    } catch {
      // It ended while the folder was read.
    }
  }
  return found;
}

/** The processes still left of those with `mark`, a second after it could have been none. */
export async function processesLeft(mark: string): Promise<number[]> {
  const deadline = performance.now() + 1_000;
  for (;;) {
    const found = await processesWith(mark);
    // The kernel has no event for the end of somebody else's process.
    if (found.length === 0 || performance.now() > deadline) return found;
  }
}
