/** The timer that waiting is measured with. */

/** Starts a timer and returns what stops it. A test passes its own. */
export type StartTimer = (callback: () => void, delayMs: number) => () => void;

/** The timer of the runtime. */
export function startTimer(callback: () => void, delayMs: number): () => void {
  const id = setTimeout(callback, delayMs);
  return () => clearTimeout(id);
}
