/** A live session: queues prompts, runs one turn at a time, and tells its listeners. */
import type { SandboxPolicy } from "../tools/sandbox_policy.ts";
import type { ToolRegistry } from "../tools/tool_registry.ts";
import { DISPOSED, runTurn } from "./_turn.ts";
import { SessionNamer } from "./_session_namer.ts";
import type { TurnContext } from "./_turn_context.ts";
import type { AgentEvent, AgentHandle, AgentListener, OptionResult } from "./agent_types.ts";
import type { ApprovalService } from "./approval.ts";
import type { PromptTemplate } from "./commands/prompt_templates.ts";
import type { SessionCommand } from "./commands/session_command.ts";
import { SessionCommands } from "./commands/session_commands.ts";
import type { EventBody, PromptContent, SessionEvent, SessionHeader, TurnEnd } from "./events.ts";
import { SessionFold } from "./fold.ts";
import type { SessionLog } from "./log.ts";
import type { ModelCatalogue } from "./model/model.ts";
import { recoveryEvents } from "./recovery.ts";
import { SessionConfig, type SessionDefaults, type SessionOption } from "./session_config.ts";
import type { SystemPrompt } from "./system_prompt.ts";
import { DEFAULT_LIMITS, type TurnLimits } from "./turn_limits.ts";

/** What an agent is made of. */
export interface AgentParts {
  /** The session's log, at its end. The agent disposes it. */
  readonly log: SessionLog;
  /** The session's tools. The agent disposes them. */
  readonly tools: ToolRegistry;
  /** The models it can ask. */
  readonly models: ModelCatalogue;
  /** Who decides on calls that need the user. */
  readonly approvals: ApprovalService;
  /** What holds until the user chooses. */
  readonly defaults: SessionDefaults;
  /** Writes the system prompt of a turn. Must not reject. */
  readonly system: () => Promise<SystemPrompt>;
  /** Reads the commands of the workspace. Must not reject. */
  readonly templates: () => Promise<readonly PromptTemplate[]>;
  /** What a call may write and reach under a sandbox mode. */
  readonly policyFor: (mode: SandboxPolicy["mode"]) => SandboxPolicy;
  /** Bounds of its turns; what is absent is {@linkcode DEFAULT_LIMITS}. */
  readonly limits?: Partial<TurnLimits>;
  /** Is told of a listener that threw. The turn goes on. */
  readonly onFault?: (error: unknown) => void;
}

/** Wakes an agent: folds the log and closes what a process that died left open. */
export async function openAgent(parts: AgentParts): Promise<AgentHandle> {
  const fold = new SessionFold();
  for await (const event of parts.log.read()) fold.apply(event);
  const agent = new Agent(parts, fold);
  const recovery = recoveryEvents(fold);
  if (recovery.length > 0) await parts.log.append(...recovery);
  return agent;
}

class Agent implements AgentHandle {
  readonly header: SessionHeader;
  readonly tools: ToolRegistry;
  #parts: AgentParts;
  #fold: SessionFold;
  #config: SessionConfig;
  #namer: SessionNamer;
  #commands: SessionCommands;
  #listeners = new Set<AgentListener>();
  #backpressure: Promise<unknown> = Promise.resolve();
  #queue: Promise<unknown> = Promise.resolve();
  /** Aborted and replaced by each cancel, so that it reaches queued turns too. */
  #abort = new AbortController();
  #disposed: Promise<void> | undefined;
  /** Choices of the user that are being logged: whoever made them knows. */
  #choosing = 0;
  #anchoring: Promise<void> = Promise.resolve();
  /** The end of the turn is on its way to the log. */
  #ending = false;

  constructor(parts: AgentParts, fold: SessionFold) {
    this.#parts = parts;
    this.#fold = fold;
    this.header = parts.log.header;
    this.tools = parts.tools;
    this.#config = new SessionConfig(fold, parts.models, parts.defaults);
    this.#namer = new SessionNamer(parts.models);
    this.#commands = new SessionCommands(parts.templates);
    parts.log.subscribe((event) => this.#logged(event));
    // Whoever took the session over goes on with it; what runs here must not.
    parts.log.lost?.addEventListener("abort", () => this.cancel(), { once: true });
  }

  history(): AsyncIterable<SessionEvent> {
    return this.#parts.log.read();
  }

  options(): readonly SessionOption[] {
    return this.#config.options();
  }

  async commands(): Promise<readonly SessionCommand[]> {
    return (await this.#commands.read()).list;
  }

  takesImages(): boolean {
    return this.#config.takesImages;
  }

  async setOption(id: string, value: string): Promise<OptionResult> {
    const change = this.#config.change(id, value);
    if (!change.ok) return change;
    this.#config.choose(change.choices);
    if (!this.#inTurn) return { ok: true };
    // One after the other, so that the last choice is the last in the log.
    const anchoring = this.#anchoring.then(() => this.#anchorChoices());
    this.#anchoring = anchoring.catch(() => {
      // Whoever chose is told; a later choice is tried anew.
    });
    await anchoring;
    return { ok: true };
  }

  /** Whether an event that is appended now still lies in a turn. */
  get #inTurn(): boolean {
    return this.#fold.openTurn !== undefined && !this.#ending;
  }

  async #anchorChoices(): Promise<void> {
    // A turn that ended meanwhile leaves it to the next one.
    if (!this.#inTurn) return;
    const pending = this.#config.pending();
    this.#choosing++;
    try {
      if (pending.events.length > 0) await this.#parts.log.append(...pending.events);
      this.#config.anchored(pending);
    } finally {
      this.#choosing--;
    }
  }

  prompt(
    content: readonly PromptContent[],
    options: { readonly notices?: readonly string[] } = {},
  ): Promise<TurnEnd> {
    const { signal } = this.#abort;
    const turn = this.#queue.then(async (): Promise<TurnEnd> => {
      if (signal.aborted) return { type: signal.reason === DISPOSED ? "disposed" : "aborted" };
      try {
        await this.#closeOpenTurn();
        const commands = await this.#commands.read();
        if (commands.changed) this.#tell({ type: "commands", commands: commands.list });
        return await runTurn(this.#context(signal), {
          content,
          notices: options.notices ?? [],
          commands,
        });
      } catch (error) {
        // The log failed: nothing more can be recorded, and the prompt must still be answered.
        const message = error instanceof Error ? error.message : String(error);
        return { type: "error", code: "internal", message };
      }
    });
    this.#queue = turn;
    return turn;
  }

  /** The store was away when a turn should have ended: it is closed as after a crash. */
  async #closeOpenTurn(): Promise<void> {
    await this.#parts.log.settle();
    const events = recoveryEvents(this.#fold);
    if (events.length > 0) await this.#parts.log.append(...events);
  }

  cancel(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  subscribe(listener: AgentListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposed ??= this.#dispose();
  }

  async #dispose(): Promise<void> {
    this.#abort.abort(DISPOSED);
    await this.#queue;
    await this.#namer[Symbol.asyncDispose]();
    await this.tools[Symbol.asyncDispose]();
    await this.#parts.log[Symbol.asyncDispose]();
  }

  #context(signal: AbortSignal): TurnContext {
    const { log, models, approvals, system, policyFor, limits } = this.#parts;
    return {
      sessionId: this.header.id,
      cwd: this.header.cwd,
      fold: this.#fold,
      config: this.#config,
      tools: this.tools,
      models,
      namer: this.#namer,
      approvals,
      system,
      limits: { ...DEFAULT_LIMITS, ...limits },
      signal,
      policy: (mode = this.#config.sandboxMode) => policyFor(mode),
      choose: async (id, value) => {
        const before = this.#optionValues();
        const result = await this.setOption(id, value);
        if (before !== this.#optionValues()) this.#tell({ type: "options" });
        return result;
      },
      record: async (...bodies: readonly EventBody[]) => {
        this.#ending = bodies.some(({ type }) => type === "turn/end");
        try {
          await log.append(...bodies);
        } finally {
          this.#ending = false;
        }
        await this.#drained(signal);
      },
      emit: (event) => {
        this.#tell(event);
        return this.#drained(signal);
      },
    };
  }

  #logged(event: SessionEvent): void {
    const before = this.#choosing === 0 && isChoice(event) ? this.#optionValues() : undefined;
    this.#fold.apply(event);
    this.#tell({ type: "logged", event });
    if (before !== undefined && before !== this.#optionValues()) this.#tell({ type: "options" });
  }

  #tell(event: AgentEvent): void {
    for (const listener of this.#listeners) {
      try {
        const busy = listener(event);
        if (busy) this.#backpressure = Promise.all([this.#backpressure, busy]);
      } catch (error) {
        this.#parts.onFault?.(error);
      }
    }
  }

  #optionValues(): string {
    return JSON.stringify(this.options().map(({ id, value }) => [id, value]));
  }

  /** Waits for slow listeners, but not past a cancel: the turn's end must come through. */
  async #drained(signal: AbortSignal): Promise<void> {
    const waiting = this.#backpressure;
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = () => resolve();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([waiting, promise]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}

/** Tells whether an event can change what the options show. */
function isChoice({ type }: SessionEvent): boolean {
  return type === "sandbox/mode" || type === "approval/policy" || type === "model/selected";
}
