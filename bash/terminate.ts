import { namespaceInit } from "./_children.ts";
import type { Shell, ShellEnd } from "./start_shell.ts";

/** Options for {@linkcode terminate}. */
export interface TerminateOptions {
  /** Milliseconds between asking and making. */
  readonly graceMs: number;
  /** Ends the grace at once. */
  readonly hurry?: AbortSignal;
}

/** What a sandbox may take to stand, in milliseconds, before it is ended all the same. */
const MAX_SETUP = 500;

/**
 * Ends a shell and its tree: TERM, the grace, KILL.
 *
 * @returns How the shell ended.
 */
export async function terminate(shell: Shell, options: TerminateOptions): Promise<ShellEnd> {
  await settlesWithin(shell.ready, { graceMs: MAX_SETUP });
  const asked = signalTree(shell, "SIGTERM");
  if (!asked || !await settlesWithin(shell.ended, options)) signalTree(shell, "SIGKILL");
  return await shell.ended;
}

/**
 * Sends a signal to a shell's whole tree, as far as one signal reaches.
 *
 * In a sandbox TERM goes to the command's processes only, since bubblewrap would take the PID
 * namespace down at once; KILL goes to bubblewrap for that very reason. Without permission to
 * signal other processes than the child (`--allow-run` with a list) TERM cannot be sent there.
 *
 * @returns Whether there was somebody to receive it.
 */
export function signalTree(shell: Shell, signal: "SIGTERM" | "SIGKILL"): boolean {
  const { child, containment } = shell;
  if (containment.type !== "bubblewrap") {
    // Alone in the moment before it has its group, and where signalling a group is not allowed.
    return signalGroup(child.pid, signal) || signalChild(child, signal);
  }
  if (signal === "SIGKILL") return signalChild(child, signal);
  // The first process of the namespace leads the group of the command and takes no TERM itself.
  const leader = namespaceInit(child.pid);
  return leader !== undefined && signalGroup(leader, signal);
}

function signalGroup(leader: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(-leader, signal);
    return true;
  } catch {
    // There is no such group, or it is not ours to signal.
    return false;
  }
}

function signalChild(child: Deno.ChildProcess, signal: Deno.Signal): boolean {
  try {
    child.kill(signal);
    return true;
  } catch {
    // It has ended already.
    return false;
  }
}

async function settlesWithin(
  promised: Promise<unknown>,
  options: TerminateOptions,
): Promise<boolean> {
  const { graceMs, hurry } = options;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const giveUp = () => resolve(false);
  const timer = setTimeout(giveUp, graceMs);
  if (hurry?.aborted) giveUp();
  hurry?.addEventListener("abort", giveUp, { once: true });
  void promised.then(() => resolve(true));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    hurry?.removeEventListener("abort", giveUp);
  }
}
