import type { AgentContext, SessionUpdate } from "@agentclientprotocol/sdk";
import type { AgentEvent, AgentHandle } from "../session/agent_types.ts";
import type { PromptContent, TurnEnd } from "../session/events.ts";
import { configOptions } from "./mapper/config_options.ts";
import { type MapperContext, SessionMapper } from "./mapper/session_mapper.ts";
import { Outbox } from "./_outbox.ts";

/** What a client can show, as it declared. */
export type ClientDisplay = Omit<MapperContext, "cwd">;

/** One session on this connection: its agent, its mapper and what is on the way to the client. */
export class LiveSession implements AsyncDisposable {
  readonly handle: AgentHandle;
  #client: Pick<AgentContext, "notify">;
  #shows: ClientDisplay;
  #mapper: SessionMapper;
  #outbox: Outbox;
  #inFlight = false;
  #notices: readonly string[];
  #subscription: Disposable;
  /** The client knows the session and what can be typed in it. */
  #announced = false;
  #closed = false;

  /** `shows` is what the client had declared when the session opened; it never changes. */
  constructor(
    handle: AgentHandle,
    client: Pick<AgentContext, "notify">,
    shows: ClientDisplay,
    notices: readonly string[],
  ) {
    this.handle = handle;
    this.#client = client;
    this.#shows = shows;
    this.#notices = notices;
    this.#mapper = this.#newMapper();
    this.#outbox = new Outbox((update) => this.#notify(update));
    this.#subscription = handle.subscribe((event) => this.#receive(event));
  }

  /** Whether a prompt has not been answered yet. */
  get busy(): boolean {
    return this.#inFlight;
  }

  /** Runs a turn. Every update of it is on the wire when this resolves. */
  async prompt(content: readonly PromptContent[], signal: AbortSignal): Promise<TurnEnd> {
    if (signal.aborted) return { type: "aborted" };
    this.#inFlight = true;
    const cancel = () => this.handle.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const end = await this.handle.prompt(content, { notices: this.#notices });
      await this.flush();
      return end;
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#inFlight = false;
    }
  }

  /** Sends the whole log through a mapper of its own, so that what was cut off leaves no trace. */
  async replay(): Promise<void> {
    const mapper = this.#newMapper();
    for await (const event of this.handle.history()) {
      for (const update of mapper.replay(event)) await this.#outbox.push(update);
    }
    await this.flush();
  }

  /** Tells what can be typed. To be called once the response that opens the session is on its way. */
  async announce(): Promise<void> {
    const commands = await this.handle.commands();
    if (this.#closed) return;
    this.#announced = true;
    this.#receive({ type: "commands", commands });
  }

  /** Resolves when everything so far is on the wire. */
  async flush(): Promise<void> {
    await this.#outbox.flush();
  }

  #newMapper(): SessionMapper {
    const { tools, header } = this.handle;
    return new SessionMapper(tools, { cwd: header.cwd, ...this.#shows });
  }

  #receive(event: AgentEvent): Promise<void> | undefined {
    const updates = this.#updates(event);
    let busy: Promise<void> | undefined;
    for (const update of updates) busy = this.#outbox.push(update);
    return busy;
  }

  #updates(event: AgentEvent): SessionUpdate[] {
    switch (event.type) {
      case "options":
        return [{
          sessionUpdate: "config_option_update",
          configOptions: configOptions(this.handle.options()),
        }];
      case "commands":
        // Before, the announcement is still to come.
        return this.#announced ? this.#mapper.live(event) : [];
      default:
        return this.#mapper.live(event);
    }
  }

  async #notify(update: SessionUpdate): Promise<void> {
    await this.#client.notify("session/update", { sessionId: this.handle.header.id, update });
  }

  /** Cancels, ends what the session owns, and flushes its log. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.handle[Symbol.asyncDispose]();
    this.#subscription[Symbol.dispose]();
  }
}
