/** The fold: what a session's events add up to. */
import type {
  ApprovalDecision,
  AssistantPart,
  Cost,
  EventData,
  EventOf,
  SessionEvent,
} from "./events.ts";
import { type PromptImage, promptParts, promptWords } from "./_prompt_parts.ts";
import type { ModelMessage, ModelToolResult } from "./model/model.ts";
import type { SandboxMode } from "../tools/sandbox_policy.ts";

/** A call without a result yet. */
export interface OpenCall {
  /** Unique within the session. */
  readonly callId: string;
  /** The tool's name. */
  readonly name: string;
  /** As the model wrote them. */
  readonly arguments: string;
  /** Whether the body may have run: the call is logged and was not waiting for the user. */
  readonly dispatched: boolean;
}

/** A turn that has not ended. */
export interface OpenTurn {
  /** Counted from 1. */
  readonly turn: number;
  /** What began it. */
  readonly trigger: EventData["turn/start"]["trigger"];
  /** The step that has not ended, counted from 1. */
  readonly openStep: number | undefined;
  /** In the order they were made. */
  readonly openCalls: readonly OpenCall[];
}

/** What stays of the user's own words in a compacted conversation, in UTF-16 code units. */
const MAX_KEPT_CHARS = 40_000;

type Message =
  | { readonly role: "user"; text: string; images?: readonly PromptImage[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | { readonly role: "tool"; readonly results: Map<string, ModelToolResult> };

/** Applies events in order; its properties are the state after the last one. */
export class SessionFold {
  /** The number of turns begun. */
  turns = 0;
  /** The last title. */
  title: string | undefined;
  /** The last preset that was chosen. */
  preset: string | undefined;
  /** The sandbox mode, once one was chosen. */
  sandboxMode: SandboxMode | undefined;
  /** The approval policy, once one was chosen. */
  approvalPolicy: "ask" | "never" | undefined;
  /** The model, once one was chosen. */
  model: EventData["model/selected"] | undefined;
  /** What the session has cost. Undefined once a step had no price: a part is no total. */
  cost: Cost | undefined = { amount: 0, currency: "USD" };
  /** The keys of the scopes the user always allows. */
  readonly allowedScopes: Set<string> = new Set();
  /** What the last request and its answer had together, in tokens; 0 where that is not known. */
  contextTokens = 0;
  /** What the user was told outside of the model's answers. */
  readonly notices: Set<string> = new Set();
  #messages: Message[] = [];
  /** What the user wrote, as the model was sent it. */
  #asked: string[] = [];
  #turn: Omit<OpenTurn, "openCalls"> | undefined;
  #calls = new Map<string, OpenCall>();

  /** The turn that has not ended. */
  get openTurn(): OpenTurn | undefined {
    return this.#turn && { ...this.#turn, openCalls: [...this.#calls.values()] };
  }

  /** Applies the next event. */
  apply(event: SessionEvent): void {
    switch (event.type) {
      case "turn/start":
        this.turns = event.data.turn;
        this.#turn = { turn: event.data.turn, trigger: event.data.trigger, openStep: undefined };
        break;
      case "turn/end":
        this.#turn = undefined;
        this.#calls.clear();
        break;
      case "step/start":
        if (this.#turn) this.#turn = { ...this.#turn, openStep: event.data.step };
        break;
      case "step/end":
        if (this.#turn) this.#turn = { ...this.#turn, openStep: undefined };
        if (event.data.usage) {
          this.contextTokens = event.data.usage.inputTokens + event.data.usage.outputTokens;
          this.cost = event.data.cost;
        }
        break;
      case "user/message":
        this.#addPrompt(event.data);
        break;
      case "assistant/message":
        this.#addAssistant(event.data);
        break;
      case "tool/call":
        this.#calls.set(event.data.callId, {
          callId: event.data.callId,
          name: event.data.name,
          arguments: event.data.arguments,
          dispatched: event.data.awaitsApproval !== true,
        });
        break;
      case "tool/result":
        this.#addResult(event);
        break;
      case "approval/asked":
        break;
      case "approval/decided":
        this.#decide(event.data);
        break;
      case "permission/preset":
        this.preset = event.data.preset;
        break;
      case "sandbox/mode":
        this.sandboxMode = event.data.mode;
        break;
      case "approval/policy":
        this.approvalPolicy = event.data.policy;
        break;
      case "model/selected":
        this.model = event.data;
        break;
      case "session/title":
        this.title = event.data.title;
        break;
      case "session/notice":
        this.notices.add(event.data.text);
        break;
      case "compact/end":
        if (event.data.outcome.type === "completed") this.#compact(event.data.outcome.summary);
        break;
      case "todo/write":
      case "compact/start":
      case "llm/retry":
        break;
      default: {
        const never: never = event;
        throw new TypeError(`Cannot fold an unknown event: ${JSON.stringify(never)}`);
      }
    }
  }

  /**
   * The conversation as a model is sent it. Always valid for a provider: each call of an answer
   * has exactly one result, in the order of the calls.
   */
  messages(): ModelMessage[] {
    const messages: ModelMessage[] = [];
    for (const message of this.#messages) {
      switch (message.role) {
        case "user":
          messages.push({ ...message });
          break;
        case "assistant":
          messages.push(message);
          break;
        case "tool":
          messages.push({ role: "tool", results: [...message.results.values()] });
          break;
      }
    }
    return messages;
  }

  #addPrompt({ content, expanded = content }: EventData["user/message"]): void {
    if (expanded.length === 0) return;
    // Images and the like are in the log once, in the prompt as it was sent.
    const parts = expanded === content
      ? content
      : [...expanded, ...content.filter(({ type }) => type !== "text" && type !== "resource_link")];
    this.#asked.push(promptWords(parts));
    const last = this.#messages.at(-1);
    const before = last?.role === "user" ? last.images ?? [] : [];
    const { text, images } = promptParts(parts, before.length);
    this.#addUserText(text);
    const message = this.#messages.at(-1);
    if (message?.role === "user" && images.length > 0) message.images = [...before, ...images];
  }

  #addUserText(text: string): void {
    const last = this.#messages.at(-1);
    // Some providers refuse two user messages in a row.
    if (last?.role === "user") last.text += `\n\n${text}`;
    else this.#messages.push({ role: "user", text });
  }

  /** What the user wrote stays as it is, as much as fits, the newest first. */
  #compact(summary: string): void {
    let room = MAX_KEPT_CHARS;
    this.#asked = this.#asked.reverse().filter((text) => (room -= text.length) >= 0).reverse();
    const kept = this.#asked.map((text) => `<message>\n${text}\n</message>`).join("\n");
    const text = "The conversation so far has been summarised to make room.\n\n" +
      `What I wrote in it, the last message last:\n${kept}\n\n` +
      `Your summary of it:\n<summary>\n${summary}\n</summary>\n\nGo on from there.`;
    this.#messages = [{ role: "user", text }];
    this.contextTokens = 0;
  }

  #addAssistant({ parts }: EventData["assistant/message"]): void {
    const calls = parts.filter((part) => part.type === "tool_call");
    // Reasoning alone is no message that a provider takes back.
    if (calls.length === 0 && !parts.some((part) => part.type === "text")) return;
    this.#messages.push({ role: "assistant", parts });
    if (calls.length === 0) return;
    const results = new Map(calls.map((call) => [call.callId, missingResult(call)]));
    this.#messages.push({ role: "tool", results });
  }

  #addResult({ data }: EventOf<"tool/result">): void {
    this.#calls.delete(data.callId);
    const last = this.#messages.at(-1);
    const asked = last?.role === "tool" ? last.results.get(data.callId) : undefined;
    if (last?.role === "tool" && asked) {
      last.results.set(data.callId, { ...asked, content: data.content, isError: data.isError });
      return;
    }
    // A command the user ran: the model did not ask for it, so it learns of it as user text.
    const output = data.content.map((item) => item.type === "text" ? item.text : "[image]");
    this.#addUserText(`I ran this command myself. Its output was:\n${output.join("\n")}`);
  }

  #decide(data: EventData["approval/decided"]): void {
    const call = this.#calls.get(data.callId);
    if (!call || !isAllowed(data.decision)) return;
    this.#calls.set(data.callId, { ...call, dispatched: true });
    if (data.decision === "allowed_always" && data.scope) this.allowedScopes.add(data.scope.key);
  }
}

/** Tells whether a decision lets the call run. */
export function isAllowed(decision: ApprovalDecision): boolean {
  return decision === "allowed_once" || decision === "allowed_always";
}

/** What stands for a result until there is one: the process may die before. */
function missingResult(call: { readonly callId: string; readonly name: string }): ModelToolResult {
  const text = "Error: the agent stopped before this call ran. It was not started.";
  return {
    callId: call.callId,
    name: call.name,
    content: [{ type: "text", text }],
    isError: true,
  };
}
