/** Joining adjacent updates: a slow reader gets fewer, larger frames and misses nothing. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";

/**
 * One update that says what two adjacent ones say, or undefined where only both can: text chunks
 * of one message, and output frames of one terminal.
 */
export function mergeUpdates(first: SessionUpdate, next: SessionUpdate): SessionUpdate | undefined {
  if (
    (first.sessionUpdate === "agent_message_chunk" ||
      first.sessionUpdate === "agent_thought_chunk") &&
    next.sessionUpdate === first.sessionUpdate && next.messageId === first.messageId &&
    first.content.type === "text" && next.content.type === "text"
  ) {
    const text = first.content.text + next.content.text;
    return { ...first, content: { ...first.content, text } };
  }
  const output = outputFrame(first);
  const more = outputFrame(next);
  if (output && more && output.key === more.key && output.terminalId === more.terminalId) {
    const data = output.data + more.data;
    return { ...first, _meta: { [output.key]: { terminal_id: output.terminalId, data } } };
  }
  return undefined;
}

/** The length in characters of what an update streams; undefined where it does not stream. */
export function streamedLength(update: SessionUpdate): number | undefined {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
    case "agent_thought_chunk":
      return update.content.type === "text" ? update.content.text.length : undefined;
    default:
      return outputFrame(update)?.data.length;
  }
}

interface OutputFrame {
  readonly key: string;
  readonly terminalId: string;
  readonly data: string;
}

/** Reads an update that carries terminal output and nothing else. */
function outputFrame(update: SessionUpdate): OutputFrame | undefined {
  if (update.sessionUpdate !== "tool_call_update" || !update._meta) return undefined;
  if (update.status || update.content || update.title) return undefined;
  const [[key, value] = [], ...others] = Object.entries(update._meta);
  if (others.length > 0) return undefined;
  if (key !== "terminal_output" && key !== "terminal_output_delta") return undefined;
  const { terminal_id, data } = value as { terminal_id: string; data: string };
  return { key, terminalId: terminal_id, data };
}
