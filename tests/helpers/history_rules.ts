import type { SessionEvent } from "../../session/events.ts";
import { SessionFold } from "../../session/fold.ts";
import type { ModelMessage } from "../../session/model/model.ts";

/** What is wrong with the events of a session that is not running: nothing, in a valid one. */
export function historyProblems(events: readonly SessionEvent[]): string[] {
  const problems: string[] = [];
  const fold = new SessionFold();
  const open = new Set<string>();
  let inTurn = false;
  for (const [index, event] of events.entries()) {
    const at = `${index} ${event.type}`;
    if (event.seq !== index) problems.push(`${at}: seq is ${event.seq}`);
    if (event.type === "turn/start") {
      if (inTurn) problems.push(`${at}: the turn before has no end`);
      inTurn = true;
    } else if (!inTurn) problems.push(`${at}: lies in no turn`);
    if (event.type === "tool/call") open.add(event.data.callId);
    if (event.type === "tool/result" && !open.delete(event.data.callId)) {
      problems.push(`${at}: a result without a call`);
    }
    if (event.type === "turn/end") {
      for (const callId of open) problems.push(`${at}: ${callId} has no result`);
      open.clear();
      inTurn = false;
    }
    fold.apply(event);
  }
  if (inTurn) problems.push("the last turn has no end");
  return [...problems, ...messageProblems(fold.messages())];
}

/** Why a provider would refuse these messages. */
export function messageProblems(messages: readonly ModelMessage[]): string[] {
  const problems: string[] = [];
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    if (index === 0 && message.role !== "user") problems.push("it does not begin with the user");
    const asked = before?.role === "assistant"
      ? before.parts.flatMap((part) => part.type === "tool_call" ? [part.callId] : [])
      : [];
    const answered = message.role === "tool" ? message.results.map(({ callId }) => callId) : [];
    if (JSON.stringify(asked) !== JSON.stringify(answered)) {
      problems.push(`message ${index}: calls ${asked}, results ${answered}`);
    }
    if (message.role === "user" && before?.role === "user") {
      problems.push(`message ${index}: two of the user in a row`);
    }
  }
  return problems;
}
