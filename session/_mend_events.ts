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
  places: Places,
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

type Places = readonly (SessionEvent | undefined)[];
type ToolCallPart = Extract<AssistantPart, { type: "tool_call" }>;

/** What the events so far add up to. */
class HistoryState {
  readonly fold = new SessionFold();
  /** The open turn has a message of the user. */
  hasPrompt = false;
  /** The calls of all answers. */
  readonly asked = new Map<string, ToolCallPart>();

  apply(event: SessionEvent): void {
    this.fold.apply(event);
    if (event.type === "turn/start") this.hasPrompt = false;
    if (event.type === "user/message") this.hasPrompt = true;
    if (event.type !== "assistant/message") return;
    for (const part of event.data.parts) {
      if (part.type === "tool_call") this.asked.set(part.callId, part);
    }
  }
}

function standIn(
  state: HistoryState,
  places: Places,
  seq: number,
  after: { readonly event: SessionEvent; readonly seq: number } | undefined,
): EventBody | undefined {
  const turn = state.fold.openTurn;
  const next = after?.event;
  const from = after?.seq ?? places.length;
  // How many lost events in a row, this one included.
  const run = from - seq;
  if (!turn) {
    // A single event between two turns cannot be: a log has none.
    if (run === 1 && (!next || next.type === "turn/start")) return next ? notice() : undefined;
    const trigger = isCommandTurn(places, from) ? "command" : "prompt";
    return { type: "turn/start", data: { turn: state.fold.turns + 1, trigger } };
  }
  if (run === 1 && next?.type === "turn/start") return turnEnd(turn.turn);
  if (!state.hasPrompt && !restOfTurn(places, seq).some(({ type }) => type === "user/message")) {
    return { type: "user/message", data: { content: [{ type: "text", text: LOST }] } };
  }
  if (run === 1 && turn.openStep !== undefined && next?.type === "step/start") {
    return { type: "step/end", data: { step: turn.openStep } };
  }
  const calls = unannouncedCalls(state, places, from);
  if (run > calls.length && turn.trigger === "prompt") {
    const lost = unaskedCalls(state, places, from);
    if (lost.length > 0) return lostAnswer(lost);
  }
  const [call] = calls;
  if (call) {
    const { callId, name, arguments: args } = call;
    return { type: "tool/call", data: { callId, name, arguments: args } };
  }
  const results = restOfTurn(places, seq).filter((event) => event.type === "tool/result");
  const unanswered = turn.openCalls.find(({ callId }) =>
    !results.some(({ data }) => data.callId === callId)
  );
  if (unanswered) return lostResult(unanswered.callId);
  // Most logs end with a turn.
  if (run === 1 && next === undefined) return turnEnd(turn.turn);
  return notice();
}

/** The calls whose results come before the next lost event, and that were not logged. */
function unannouncedCalls({ fold, asked }: HistoryState, places: Places, from: number) {
  const known = new Set(fold.openTurn?.openCalls.map(({ callId }) => callId));
  const calls: ToolCallPart[] = [];
  const hole = places.indexOf(undefined, from);
  for (const event of restOfTurn(places.slice(0, hole < 0 ? undefined : hole), from - 1)) {
    if (event.type === "tool/call") known.add(event.data.callId);
    if (event.type !== "tool/result" || known.has(event.data.callId)) continue;
    calls.push(asked.get(event.data.callId) ?? nameless(event.data.callId));
  }
  return calls;
}

/** The calls of an answer that is lost: those in the rest of its step that no answer made. */
function unaskedCalls({ asked }: HistoryState, places: Places, from: number): ToolCallPart[] {
  const calls = new Map<string, ToolCallPart>();
  for (const event of restOfTurn(places, from - 1)) {
    if (event.type === "assistant/message" || event.type === "step/end") break;
    if (event.type !== "tool/call" && event.type !== "tool/result") continue;
    const { callId } = event.data;
    if (asked.has(callId)) continue;
    if (event.type === "tool/result") calls.set(callId, calls.get(callId) ?? nameless(callId));
    else {
      const { name, arguments: args } = event.data;
      calls.set(callId, { type: "tool_call", callId, name, arguments: args });
    }
  }
  return [...calls.values()];
}

function nameless(callId: string): ToolCallPart {
  return { type: "tool_call", callId, name: "unknown", arguments: "{}" };
}

/** A prompt that starts with `!` is a command of the user's own. */
function isCommandTurn(places: Places, from: number): boolean {
  const prompt = restOfTurn(places, from - 1).find((event) => event.type === "user/message");
  const [first] = prompt?.data.content ?? [];
  return first?.type === "text" && first.text.startsWith("!");
}

function nextEvent(
  places: Places,
  seq: number,
): { readonly event: SessionEvent; readonly seq: number } | undefined {
  for (let at = seq + 1; at < places.length; at++) {
    const event = places[at];
    if (event) return { event, seq: at };
  }
  return undefined;
}

/** What can be read of the same turn after `seq`, its end not included. */
function restOfTurn(places: Places, seq: number): SessionEvent[] {
  const rest: SessionEvent[] = [];
  for (let at = seq + 1; at < places.length; at++) {
    const event = places[at];
    if (event?.type === "turn/start" || event?.type === "turn/end") break;
    if (event) rest.push(event);
  }
  return rest;
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
