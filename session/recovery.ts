/** Closes what a process that died left open, so that the session can go on. */
import type { EventBody, ToolOutcome } from "./events.ts";
import type { SessionFold } from "./fold.ts";

/**
 * The events that close an open turn: a synthetic result for each call without one, the end of
 * the step, and the turn's end as `interrupted`. Empty when nothing is open.
 */
export function recoveryEvents(fold: SessionFold): EventBody[] {
  const open = fold.openTurn;
  if (!open) return [];
  const events: EventBody[] = open.openCalls.map((call) => syntheticResult(call));
  if (open.openStep !== undefined) {
    events.push({ type: "step/end", data: { step: open.openStep } });
  }
  events.push({ type: "turn/end", data: { turn: open.turn, reason: { type: "interrupted" } } });
  return events;
}

/**
 * Results for the calls of the open turn whose own could not be recorded, for a turn that ends all
 * the same.
 */
export function unrecordedResults(fold: SessionFold): EventBody[] {
  const why = "the result of this call could not be recorded";
  return (fold.openTurn?.openCalls ?? []).map((call) => syntheticResult(call, why));
}

function syntheticResult(
  { callId, dispatched }: { readonly callId: string; readonly dispatched: boolean },
  why = "the agent stopped while this call ran",
): EventBody {
  const outcome: ToolOutcome = dispatched ? "unknown" : "not_started";
  const text = dispatched
    ? `Error: ${why}, so its outcome is unknown. Check what it changed before repeating it.`
    : "Error: the agent stopped before this call ran. It was not started.";
  return {
    type: "tool/result",
    data: { callId, content: [{ type: "text", text }], isError: true, outcome },
  };
}
