/** The variable that marks every process of one command. */
export const MARKER_VARIABLE = "DSH_COMMAND_ID";

/** A process may fork while `/proc` is read: the pass that finds nobody is the last. */
const MAX_PASSES = 8;
/** How many processes are looked at before others get a turn. */
const BATCH = 64;

/**
 * Ends what left a command's process group (`setsid`, a double fork), by the marker variable that
 * children inherit. Linux only, and only with full permissions, which Deno wants for `/proc`.
 *
 * It cannot reach a process that left the group and also cleared its environment (`env -i setsid
 * ...`), nor one that runs as another user. A PID namespace has neither gap.
 *
 * Reading `/proc` takes milliseconds, so it is not part of a call unless something holds the
 * call's pipe: a session owns one sweeper, and the next call and the session's end wait for it.
 */
export class Sweeper implements AsyncDisposable {
  #last: Promise<unknown> = Promise.resolve();

  /** Looks for marked processes behind the current call's back. */
  schedule(marker: string): void {
    this.#last = this.#last.then(() => endMarked(marker));
  }

  /** Waits until everything scheduled is done. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.idle();
  }
}

/** Kills every process that carries the marker; returns how many there were. Never rejects. */
export async function endMarked(marker: string): Promise<number> {
  const wanted = `${MARKER_VARIABLE}=${marker}`;
  let ended = 0;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const found = await findMarked(wanted);
    const killed = found.filter(kill).length;
    ended += killed;
    if (killed === 0) break;
  }
  return ended;
}

async function findMarked(wanted: string): Promise<number[]> {
  const found: number[] = [];
  let looked = 0;
  for (const pid of listProcesses()) {
    if (++looked % BATCH === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    if (carries(pid, wanted)) found.push(pid);
  }
  return found;
}

function listProcesses(): number[] {
  try {
    return [...Deno.readDirSync("/proc")]
      .map((entry) => Number(entry.name))
      .filter(Number.isInteger);
  } catch {
    // No /proc here, or not for us: the group was all there is to reach.
    return [];
  }
}

function carries(pid: number, wanted: string): boolean {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0").includes(wanted);
  } catch {
    // Gone, or another user's.
    return false;
  }
}

function kill(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGKILL");
    return true;
  } catch {
    // Gone in the meantime.
    return false;
  }
}
