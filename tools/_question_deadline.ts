/** Bounds how long a question stays open, whatever the one who shows it does. */
import type { QuestionAnswer, QuestionRequest, UserInteraction } from "./user_interaction.ts";

/** Starts a timer and returns what stops it. A test passes its own. */
export type StartTimer = (callback: () => void, delayMs: number) => () => void;

/** The timer of the runtime. */
export function startTimer(callback: () => void, delayMs: number): () => void {
  const id = setTimeout(callback, delayMs);
  return () => clearTimeout(id);
}

/**
 * Asks, and settles at the deadline (as declined) or at the call's cancel (as cancelled) although
 * `interaction` stays silent. Either way its signal aborts, so that it withdraws the question.
 * Never rejects.
 */
export async function askUntil(
  interaction: UserInteraction,
  request: QuestionRequest,
  { timeoutMs, startTimer }: { readonly timeoutMs: number; readonly startTimer: StartTimer },
): Promise<QuestionAnswer> {
  if (request.signal.aborted) return { type: "cancelled" };
  const withdraw = new AbortController();
  const { promise, resolve } = Promise.withResolvers<QuestionAnswer>();
  const settle = (answer: QuestionAnswer) => {
    resolve(answer);
    withdraw.abort();
  };
  const cancel = () => settle({ type: "cancelled" });
  request.signal.addEventListener("abort", cancel, { once: true });
  const stopTimer = startTimer(
    () => settle({ type: "declined", reason: "deadline" }),
    timeoutMs,
  );
  try {
    return await Promise.race([
      promise,
      interaction.ask({ ...request, signal: withdraw.signal }),
    ]);
  } catch (error) {
    // The contract forbids it, but a question must not end a call without a result.
    return { type: "failed", message: error instanceof Error ? error.message : String(error) };
  } finally {
    stopTimer();
    request.signal.removeEventListener("abort", cancel);
  }
}
