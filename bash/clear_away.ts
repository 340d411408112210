import { liveChildren, namespaceInit } from "./_children.ts";
import { isGroupAlive } from "./_process_group.ts";
import type { OutputPump } from "./output_pump.ts";
import type { Shell } from "./start_shell.ts";
import { endMarked, type Sweeper } from "./sweeper.ts";
import { signalTree } from "./terminate.ts";

/** Options for {@linkcode clearAway}. */
export interface ClearOptions {
  /** What marks the command's processes outside a PID namespace. */
  readonly marker: string;
  /** Whether the command was stopped: then nothing is waited for. */
  readonly stopped: boolean;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
  readonly sweeper?: Sweeper;
}

/** What a process that outlives the shell gets to finish what it prints. In milliseconds. */
const SILENCE = 200;
const MAX_DRAIN = 1_500;
/** What it then gets between TERM and KILL, and a pipe to close once everybody is gone. */
const GRACE = 100;
const POLL = 20;

/**
 * After the shell has ended: lets the processes that it left finish their output, ends them, and
 * reads what is left in the pipe. Takes less than two seconds.
 *
 * @returns Whether there was anything to end.
 */
export async function clearAway(
  shell: Shell,
  pump: OutputPump,
  options: ClearOptions,
): Promise<boolean> {
  return shell.containment.type === "bubblewrap"
    ? await clearNamespace(shell, pump, options)
    : await clearGroup(shell, pump, options);
}

/**
 * Bubblewrap holds the pipe as long as it lives, so the end of the output does not tell that the
 * others are gone: the kernel's list of them does.
 */
async function clearNamespace(
  shell: Shell,
  pump: OutputPump,
  options: ClearOptions,
): Promise<boolean> {
  const empty = new AbortController();
  const poll = setInterval(() => {
    if (hasOthers(shell) === false) empty.abort();
  }, POLL);
  const over = await settle(pump, options, empty.signal);
  clearInterval(poll);
  const left = !over && (hasOthers(shell) ?? true);
  if (!over) signalTree(shell, "SIGKILL");
  await shell.child.status;
  await endReading(pump);
  return left;
}

/**
 * Whether the PID namespace holds more than its first process: the orphans are its children.
 * Undefined where this program may not look.
 */
function hasOthers(shell: Shell): boolean | undefined {
  const init = namespaceInit(shell.child.pid);
  const children = init === undefined ? undefined : liveChildren(init);
  return children && children.length > 0;
}

async function clearGroup(
  shell: Shell,
  pump: OutputPump,
  options: ClearOptions,
): Promise<boolean> {
  const over = await settle(pump, options);
  const grouped = await endGroup(shell);
  if (!over && !await pump.settle({ silenceMs: GRACE, maxMs: GRACE })) {
    await endMarked(new Set([options.marker]));
    await endReading(pump);
  } else if (options.sweeper) {
    options.sweeper.schedule(options.marker);
  } else {
    await endMarked(new Set([options.marker]));
  }
  return grouped || !over;
}

/** Ends what is left of the group; tells whether anything was. */
async function endGroup(shell: Shell): Promise<boolean> {
  const group = shell.child.pid;
  if (!signalTree(shell, "SIGTERM") || !isGroupAlive(group)) return false;
  for (let waited = 0; waited < GRACE; waited += POLL) {
    await new Promise((resolve) => setTimeout(resolve, POLL));
    if (!isGroupAlive(group)) return true;
  }
  signalTree(shell, "SIGKILL");
  return true;
}

async function settle(
  pump: OutputPump,
  options: ClearOptions,
  empty?: AbortSignal,
): Promise<boolean> {
  const { stopped, signal } = options;
  const hurry = [empty, stopped ? undefined : signal].filter((one) => one !== undefined);
  return await pump.settle({
    silenceMs: SILENCE,
    maxMs: stopped ? SILENCE : MAX_DRAIN,
    ...(hurry.length > 0 && { hurry: AbortSignal.any(hurry) }),
  });
}

async function endReading(pump: OutputPump): Promise<void> {
  if (!await pump.settle({ silenceMs: GRACE, maxMs: GRACE })) await pump.cancel();
}
