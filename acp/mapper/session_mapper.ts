/** Log events and live pieces of a session to ACP session updates: one mapper for live and replay. */
import type { CompactionUpdate, SessionUpdate } from "@agentclientprotocol/sdk";
import type { AgentEvent } from "../../session/agent_types.ts";
import type { SessionCommand } from "../../session/commands/session_command.ts";
import type { AssistantPart, EventOf, SessionEvent } from "../../session/events.ts";
import type { CallView, ResultView } from "../../tools/presentation.ts";
import type { ToolResult } from "../../tools/tool.ts";
import { compactionText, notice, retryNotice, usageUpdate } from "./_step_updates.ts";
import { promptBlock } from "./prompt_content.ts";
import {
  type CardContext,
  terminalOutputCard,
  toolCallCard,
  toolResultCard,
} from "./tool_cards.ts";

/** How calls and results look; a session's tool registry is one. Both functions are total. */
export interface Presenter {
  /** How a call looks, its arguments given as the model wrote them. */
  presentCall(name: string, rawArguments: string): CallView;
  /** How its result looks. */
  presentResult(name: string, rawArguments: string, result: ToolResult): ResultView;
}

/** What the updates depend on besides the events. */
export interface MapperContext extends CardContext {
  /** Whether the client shows compactions (`session.compaction`). @default {false} */
  readonly compaction?: boolean;
}

interface OpenCard {
  readonly name: string;
  readonly rawArguments: string;
  readonly view: CallView;
  streamed: string;
}

/**
 * Maps one session's events, in order. Durable events repeat what was streamed before them, so
 * the mapper sends only the rest; replaying the log alone therefore gives the same updates.
 */
export class SessionMapper {
  #presenter: Presenter;
  #context: MapperContext;
  #cards = new Map<string, OpenCard>();
  /** The id of the compaction that has not ended. */
  #compaction: string | undefined;
  /** The characters of the current answer that were streamed. */
  #streamed = 0;
  /**
   * The event that the current answer is named after. It is logged before the answer streams, so
   * that a replay names it alike.
   */
  #answerSeq: number | undefined;

  /** `presenter` knows the tools of the session; `context` never changes while it lives. */
  constructor(presenter: Presenter, context: MapperContext) {
    this.#presenter = presenter;
    this.#context = context;
  }

  /** The updates of a live event. The user's own message is not echoed: the client has it. */
  live(event: Exclude<AgentEvent, { type: "options" }>): SessionUpdate[] {
    switch (event.type) {
      case "logged":
        return event.event.type === "user/message" ? [] : this.replay(event.event);
      case "delta":
        this.#streamed += event.text.length;
        return [this.#answerChunk(event.part, event.text, this.#answerSeq)];
      case "output":
        return this.#output(event.callId, event.data);
      case "commands":
        return [commandsUpdate(event.commands)];
    }
  }

  /** The updates of a logged event. */
  replay(event: SessionEvent): SessionUpdate[] {
    switch (event.type) {
      case "user/message":
        return event.data.content.map((part) => ({
          sessionUpdate: "user_message_chunk",
          messageId: `user-${event.seq}`,
          content: promptBlock(part),
        }));
      case "assistant/message":
        return this.#answer(event.data.parts, event.seq);
      case "tool/call":
        return [this.#call(event)];
      case "approval/asked":
        return this.#asked(event);
      case "approval/decided":
        return this.#decided(event);
      case "tool/result":
        return this.#result(event);
      case "llm/retry":
        return this.#retry(event);
      case "session/notice":
        return [notice(event, `${event.data.text}\n\n`)];
      case "session/title":
        return [{
          sessionUpdate: "session_info_update",
          title: event.data.title,
          updatedAt: new Date(event.time).toISOString(),
        }];
      case "todo/write":
        return [{
          sessionUpdate: "plan",
          entries: event.data.entries.map((entry) => ({ ...entry })),
        }];
      case "compact/start":
        this.#compaction = `compaction-${event.seq}`;
        return this.#compactionUpdate({ status: "in_progress" });
      case "compact/end":
        return this.#compacted(event);
      case "turn/start":
        this.#streamed = 0;
        return [];
      case "turn/end":
        this.#streamed = 0;
        this.#answerSeq = undefined;
        return this.#compactionUpdate({ status: "cancelled" }, true);
      case "step/start":
        this.#answerSeq = event.seq;
        return [];
      case "step/end":
        this.#answerSeq = undefined;
        return usageUpdate(event);
      case "permission/preset":
      case "sandbox/mode":
      case "approval/policy":
      case "model/selected":
        return [];
      default: {
        const never: never = event;
        throw new TypeError(`Cannot map an unknown event: ${JSON.stringify(never)}`);
      }
    }
  }

  #compacted(event: EventOf<"compact/end">): SessionUpdate[] {
    const { outcome } = event.data;
    if (!this.#context.compaction) return compactionText(event);
    switch (outcome.type) {
      case "completed":
        return this.#compactionUpdate({
          status: "completed",
          summary: [{ type: "text", text: outcome.summary }],
        }, true);
      case "failed":
        return this.#compactionUpdate({ status: "failed", error: outcome.message }, true);
      case "cancelled":
        return this.#compactionUpdate({ status: "cancelled" }, true);
    }
  }

  /** Nothing where no compaction is open, or for a client that does not show them. */
  #compactionUpdate(
    patch: Omit<CompactionUpdate, "compactionId">,
    isLast = false,
  ): SessionUpdate[] {
    const compactionId = this.#compaction;
    if (isLast) this.#compaction = undefined;
    if (compactionId === undefined || !this.#context.compaction) return [];
    return [{ sessionUpdate: "compaction_update", compactionId, ...patch }];
  }

  #retry(event: EventOf<"llm/retry">): SessionUpdate[] {
    const updates = this.#answer(event.data.partial, event.seq);
    // What comes next is another answer.
    this.#answerSeq = event.seq;
    return [...updates, retryNotice(event)];
  }

  #answer(parts: readonly AssistantPart[], seq: number): SessionUpdate[] {
    let seen = this.#streamed;
    this.#streamed = 0;
    const updates: SessionUpdate[] = [];
    for (const part of parts) {
      if (part.type === "tool_call") continue;
      const rest = part.text.slice(seen);
      seen = Math.max(0, seen - part.text.length);
      if (rest !== "") {
        updates.push(this.#answerChunk(part.type, rest, this.#answerSeq ?? seq));
      }
    }
    return updates;
  }

  /** What is thought and what is said are two messages, however they alternate in one answer. */
  #answerChunk(
    part: "text" | "reasoning",
    text: string,
    seq: number | undefined,
  ): SessionUpdate {
    const kind = part === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    const name = part === "text" ? "message" : "thought";
    return {
      sessionUpdate: kind,
      ...(seq !== undefined && { messageId: `${name}-${seq}` }),
      content: { type: "text", text },
    };
  }

  #call({ data }: EventOf<"tool/call">): SessionUpdate {
    const view = this.#presenter.presentCall(data.name, data.arguments);
    const card = { name: data.name, rawArguments: data.arguments, view, streamed: "" };
    this.#cards.set(data.callId, card);
    const status = data.awaitsApproval ? "pending" : "in_progress";
    return {
      sessionUpdate: "tool_call",
      ...toolCallCard(data.callId, view, status, this.#context),
    };
  }

  /** The reason joins the card: the request itself has no room for one. */
  #asked({ data }: EventOf<"approval/asked">): SessionUpdate[] {
    const card = this.#cards.get(data.callId);
    if (!card) return [];
    const { content = [] } = toolCallCard(data.callId, card.view, "pending", this.#context);
    const reason = { type: "text", text: `Needs your approval: ${data.reason}` } as const;
    return [{
      sessionUpdate: "tool_call_update",
      toolCallId: data.callId,
      status: "pending",
      content: [{ type: "content", content: reason }, ...content],
    }];
  }

  #decided({ data }: EventOf<"approval/decided">): SessionUpdate[] {
    const allowed = data.decision === "allowed_once" || data.decision === "allowed_always";
    if (!allowed || !this.#cards.has(data.callId)) return [];
    return [{
      sessionUpdate: "tool_call_update",
      toolCallId: data.callId,
      status: "in_progress",
    }];
  }

  #output(callId: string, data: string): SessionUpdate[] {
    const card = this.#cards.get(callId);
    if (card?.view.type !== "terminal" || this.#context.terminal === "none") return [];
    card.streamed += data;
    return [{
      sessionUpdate: "tool_call_update",
      ...terminalOutputCard(callId, data, this.#context),
    }];
  }

  #result({ data }: EventOf<"tool/result">): SessionUpdate[] {
    const card = this.#cards.get(data.callId);
    // A result without a card on show: its call was never announced.
    if (!card) return [];
    this.#cards.delete(data.callId);
    const { content, isError, meta } = data;
    const result: ToolResult = { content, isError, ...(meta && { meta }) };
    const update = toolResultCard({
      callId: data.callId,
      callView: card.view,
      resultView: this.#presenter.presentResult(card.name, card.rawArguments, result),
      content,
      isError,
      streamed: card.streamed,
    }, this.#context);
    return [{ sessionUpdate: "tool_call_update", ...update }];
  }
}

function commandsUpdate(commands: readonly SessionCommand[]): SessionUpdate {
  return {
    sessionUpdate: "available_commands_update",
    availableCommands: commands.map(({ name, description, hint }) => ({
      name,
      description,
      ...(hint !== undefined && { input: { hint } }),
    })),
  };
}
