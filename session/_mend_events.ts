/**
 * What is put where an event is lost, so that the history around it stays valid: every event in a
 * turn, every call with one result, every turn with an end. What the events around it tell about
 * the lost one is used; otherwise a notice says that something is missing.
 */
import type { AssistantPart, EventBody, SessionEvent } from "./events.ts";
import { SessionFold } from "./fold.ts";

/** Shown and sent in place of what was lost. */
const LOST = "[This part of the session was damaged and could not be restored.]";

/**
 * A stand-in for each lost event, in order. Undefined: nothing valid can stand there, which only
 * happens at the end of a log.
 */
export function standIns(
  places: readonly (SessionEvent | undefined)[],
): ReadonlyMap<number, EventBody | undefined> {
  const found = new Map<number, EventBody | undefined>();
  const state = new HistoryState();
  for (const [seq, event] of places.entries()) {
    if (event) {
      state.apply(event);
      continue;
    }
    const after = nextEvent(places, seq);
    const body = standIn(state, places, seq, after);
    found.set(seq, body);
    if (body) state.apply({ v: 1, seq, time: 0, ...body });
  }
  return found;
}

/** What the events so far add up to. */
class HistoryState {
  readonly fold = new SessionFold();
  /** The open turn has a message of the user. */
  hasPrompt = false;
  /** The calls of the last answer, by id, until they are logged. */
  asked = new Map<string, Extract<AssistantPart, { type: "tool_call" }>>();

  apply(event: SessionEvent): void {
    this.fold.apply(event);
    switch (event.type) {
      case "turn/start":
        this.hasPrompt = false;
        this.asked.clear();
        break;
      case "user/message":
        this.hasPrompt = true;
        break;
      case "assistant/message":
        this.asked = new Map(
          event.data.parts.flatMap((part) =>
            part.type === "tool_call" ? [[part.callId, part]] : []
          ),
        );
        break;
      case "tool/call":
        this.asked.delete(event.data.callId);
        break;
      default:
        break;
    }
  }
}

function standIn(
  state: HistoryState,
  places: readonly (SessionEvent | undefined)[],
  seq: number,
  after: { readonly event: SessionEvent; readonly seq: number } | undefined,
): EventBody | undefined {
  const turn = state.fold.openTurn;
  const next = after?.event;
  // How many lost events in a row, this one included.
  const run = (after?.seq ?? places.length) - seq;
  if (!turn) {
    const betweenTurns = next === undefined || next.type === "turn/start";
    // A single event between two turns cannot be: a log has none.
    if (betweenTurns && run === 1) return next ? notice() : undefined;
    return { type: "turn/start", data: { turn: state.fold.turns + 1, trigger: "prompt" } };
  }
  const endsHere = run === 1 && (next === undefined ? false : next.type === "turn/start");
  if (endsHere) return turnEnd(turn.turn);
  if (!state.hasPrompt && !laterInTurn(places, seq, isPrompt)) {
    return { type: "user/message", data: { content: [{ type: "text", text: LOST }] } };
  }
  if (run === 1 && turn.openStep !== undefined && next?.type === "step/start") {
    return { type: "step/end", data: { step: turn.openStep } };
  }
  if (next?.type === "tool/result") {
    const call = state.asked.get(next.data.callId);
    if (call) {
      const { callId, name, arguments: args } = call;
      return { type: "tool/call", data: { callId, name, arguments: args } };
    }
  }
  const unanswered = turn.openCalls.find(({ callId }) =>
    !laterInTurn(
      places,
      seq,
      (event) => event.type === "tool/result" && event.data.callId === callId,
    )
  );
  if (unanswered) return lostResult(unanswered.callId);
  if (run === 1 && next?.type === "tool/call" && turn.trigger === "prompt") {
    const calls = callsFrom(places, after?.seq ?? seq, state);
    if (calls.length > 0) return lostAnswer(calls);
  }
  return notice();
}

/** The calls of an answer that is lost: those that were logged after it. */
function callsFrom(
  places: readonly (SessionEvent | undefined)[],
  from: number,
  state: HistoryState,
): AssistantPart[] {
  const calls: AssistantPart[] = [];
  for (const event of places.slice(from)) {
    if (event?.type === "assistant/message" || event?.type === "step/end") break;
    if (event?.type === "turn/end" || event?.type === "turn/start") break;
    if (event?.type !== "tool/call" || state.asked.has(event.data.callId)) continue;
    const { callId, name, arguments: args } = event.data;
    calls.push({ type: "tool_call", callId, name, arguments: args });
  }
  return calls;
}

function nextEvent(
  places: readonly (SessionEvent | undefined)[],
  seq: number,
): { readonly event: SessionEvent; readonly seq: number } | undefined {
  for (let at = seq + 1; at < places.length; at++) {
    const event = places[at];
    if (event) return { event, seq: at };
  }
  return undefined;
}

function laterInTurn(
  places: readonly (SessionEvent | undefined)[],
  seq: number,
  matches: (event: SessionEvent) => boolean,
): boolean {
  for (let at = seq + 1; at < places.length; at++) {
    const event = places[at];
    if (event?.type === "turn/start" || event?.type === "turn/end") return false;
    if (event && matches(event)) return true;
  }
  return false;
}

function isPrompt(event: SessionEvent): boolean {
  return event.type === "user/message";
}

function turnEnd(turn: number): EventBody {
  return { type: "turn/end", data: { turn, reason: { type: "interrupted" } } };
}

function lostResult(callId: string): EventBody {
  const text = `Error: the result of this call was lost. Its outcome is unknown. ${LOST}`;
  const content = [{ type: "text", text }] as const;
  return { type: "tool/result", data: { callId, content, isError: true, outcome: "unknown" } };
}

function lostAnswer(calls: readonly AssistantPart[]): EventBody {
  const parts: AssistantPart[] = [{ type: "text", text: LOST }, ...calls];
  return { type: "assistant/message", data: { parts, model: "unknown", interrupted: true } };
}

function notice(): EventBody {
  return { type: "session/notice", data: { text: LOST } };
}
