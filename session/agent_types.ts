/** What the bridge programs against: agents, and the factory that makes them. */
import type { McpServer } from "../tools/mcp/mcp_server.ts";
import type { ToolRegistry } from "../tools/tool_registry.ts";
import type { UserInteraction } from "../tools/user_interaction.ts";
import type { SessionCommand } from "./commands/session_command.ts";
import type { PromptContent, SessionEvent, SessionHeader, TurnEnd } from "./events.ts";
import type { SessionOption } from "./session_config.ts";

/** What an agent tells its listeners, in order. */
export type AgentEvent =
  /** A durable event of the log. */
  | { readonly type: "logged"; readonly event: SessionEvent }
  /** A piece of the answer that streams; the `assistant/message` that follows repeats it whole. */
  | { readonly type: "delta"; readonly part: "text" | "reasoning"; readonly text: string }
  /** Terminal output of a running call; its `tool/result` repeats it. */
  | { readonly type: "output"; readonly callId: string; readonly data: string }
  /** The options changed without the listener's doing. */
  | { readonly type: "options" }
  /** What can be typed as `/name` is another list than before. */
  | { readonly type: "commands"; readonly commands: readonly SessionCommand[] };

/**
 * Receives an agent's events, synchronously and in order. A promise it returns is backpressure:
 * the agent waits for it before it reads on from the model. Must not throw.
 */
export type AgentListener = (event: AgentEvent) => void | Promise<void>;

/** Whether a choice was accepted; `problem` names the field, the rule and the value. */
export type OptionResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly problem: string };

/** One live session. */
export interface AgentHandle extends AsyncDisposable {
  /** The session it is. */
  readonly header: SessionHeader;
  /** The session's tools, for their presenters. */
  readonly tools: ToolRegistry;
  /** The log from its beginning. */
  history(): AsyncIterable<SessionEvent>;
  /** The current options. */
  options(): readonly SessionOption[];
  /** Reads what can be typed as `/name`. A turn reads it anew and tells of a change. */
  commands(): Promise<readonly SessionCommand[]>;
  /** Whether the model in force takes images. Absent: no model does. */
  takesImages?(): boolean;
  /** Chooses: at once inside a turn, otherwise with the next one. */
  setOption(id: string, value: string): Promise<OptionResult>;
  /**
   * Queues a turn and resolves with how it ended. Never rejects; `notices` are logged with the
   * turn for the person to see, once each per session.
   */
  prompt(
    content: readonly PromptContent[],
    options?: { readonly notices?: readonly string[] },
  ): Promise<TurnEnd>;
  /** Cancels the running turn and the queued ones. Without any, does nothing. */
  cancel(): void;
  /** Receives events from now on. */
  subscribe(listener: AgentListener): Disposable;
  /** Ends the running turn as `disposed`, ends what the tools own, and flushes the log. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the client of a session can do for it. */
export interface ClientAbilities {
  /** Absent: nobody can be asked, and no tool offers to. */
  readonly interaction?: UserInteraction;
  /** Folders that the session works in besides its own, absolute. @default {none} */
  readonly directories?: readonly string[];
  /** MCP servers whose tools the session gets. @default {none} */
  readonly mcpServers?: readonly McpServer[];
}

/** Makes agents. */
export interface AgentFactory {
  /** Starts a session. `cwd` is absolute. */
  create(init: { readonly cwd: string }, abilities?: ClientAbilities): Promise<AgentHandle>;
  /** Wakes a stored session. Undefined: there is none of this id. */
  resume(id: string, abilities?: ClientAbilities): Promise<AgentHandle | undefined>;
}
