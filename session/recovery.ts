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

function syntheticResult(
  call: { readonly callId: string; readonly dispatched: boolean },
): EventBody {
  const outcome: ToolOutcome = call.dispatched ? "unknown" : "not_started";
  const text = call.dispatched
    ? "Error: the agent stopped while this call ran, so its outcome is unknown. " +
      "Check what it changed before repeating it."
    : "Error: the agent stopped before this call ran. It was not started.";
  return {
    type: "tool/result",
    data: { callId: call.callId, content: [{ type: "text", text }], isError: true, outcome },
  };
}
