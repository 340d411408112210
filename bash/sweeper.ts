/** The variable that marks every process of one command. */
export const MARKER_VARIABLE = "DSH_COMMAND_ID";

/** A process may fork while `/proc` is read: the pass that finds nobody is the last. */
const MAX_PASSES = 8;
/** How many processes are looked at before others get a turn. */
const BATCH = 32;

/** How long after a call its sweep begins, in milliseconds: one pass serves several calls. */
const DELAY = 100;

/**
 * Ends what left a command's process group (`setsid`, a double fork), by the marker variable that
 * children inherit. Linux only, and only with full permissions, which Deno wants for `/proc`.
 *
 * It cannot reach a process that left the group and also cleared its environment (`env -i setsid
 * ...`), nor one that runs as another user. A PID namespace has neither gap.
 *
 * Reading `/proc` takes milliseconds, so it is not part of a call unless something holds the
 * call's pipe: a session owns one sweeper, which follows each call within a moment.
 */
export class Sweeper implements AsyncDisposable {
  #markers = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<unknown> = Promise.resolve();

  /** Looks for processes with this marker a moment later. */
  schedule(marker: string): void {
    this.#markers.add(marker);
    this.#timer ??= setTimeout(() => this.#start(), DELAY);
  }

  /** Looks at once, and waits until everything scheduled is done. */
  async idle(): Promise<void> {
    if (this.#markers.size > 0) this.#start();
    await this.#running;
  }

  /** Waits as {@linkcode Sweeper.idle} does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.idle();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const markers = this.#markers;
    this.#markers = new Set();
    this.#running = this.#running.then(() => endMarked(markers));
  }
}

/** Kills every process that carries one of the markers; returns how many there were. Never rejects. */
export async function endMarked(markers: ReadonlySet<string>): Promise<number> {
  const wanted = new Set([...markers].map((marker) => `${MARKER_VARIABLE}=${marker}`));
  let ended = 0;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const found = await findMarked(wanted);
    const killed = found.filter(kill).length;
    ended += killed;
    if (killed === 0) break;
  }
  return ended;
}

async function findMarked(wanted: ReadonlySet<string>): Promise<number[]> {
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

function carries(pid: number, wanted: ReadonlySet<string>): boolean {
  try {
    const environ = Deno.readTextFileSync(`/proc/${pid}/environ`);
    return environ.includes(MARKER_VARIABLE) &&
      environ.split("\0").some((entry) => wanted.has(entry));
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
