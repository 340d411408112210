/** The updates of what happens around an answer: retries, compactions, notices, usage. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { EventOf, SessionEvent } from "../../session/events.ts";

/** For a client that does not show compactions. */
export function compactionText(event: EventOf<"compact/end">): SessionUpdate[] {
  const { outcome } = event.data;
  switch (outcome.type) {
    case "completed":
      return [notice(event, "[The conversation so far was summarised to make room.]\n\n")];
    case "failed":
      return [notice(event, `[The conversation was not summarised: ${outcome.message}]\n\n`)];
    case "cancelled":
      return [];
  }
}

/** The protocol has no usage without a window. */
export function usageUpdate({ data }: EventOf<"step/end">): SessionUpdate[] {
  const { usage, contextWindow, cost } = data;
  if (!usage || contextWindow === undefined) return [];
  return [{
    sessionUpdate: "usage_update",
    used: usage.inputTokens + usage.outputTokens,
    size: contextWindow,
    ...(cost && { cost: { ...cost } }),
  }];
}

/** What is not the model's is a message of its own. */
export function notice({ seq }: SessionEvent, text: string): SessionUpdate {
  return {
    sessionUpdate: "agent_message_chunk",
    messageId: `notice-${seq}`,
    content: { type: "text", text },
  };
}

/** The request comes again, and the person who waits is told. */
export function retryNotice(event: EventOf<"llm/retry">): SessionUpdate {
  const { delayMs, partial, message, attempt, maxAttempts } = event.data;
  const seconds = (delayMs / 1000).toFixed(1);
  const discarded = partial.length > 0 ? " What it had answered is discarded." : "";
  return notice(
    event,
    `\n\n[The model request failed: ${message}.${discarded} ` +
      `Attempt ${attempt} of ${maxAttempts} in ${seconds} s]\n\n`,
  );
}
