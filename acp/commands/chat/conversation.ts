/** One session at a time with the agent, in the words of the chat. */
import {
  type ClientContext,
  RequestError,
  type SessionConfigOption,
  type SessionInfo,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";

/** What a prompt came to. */
export type TurnOutcome =
  | { readonly type: "ended"; readonly reason: StopReason }
  /** `message` is the agent's, for a person. */
  | { readonly type: "failed"; readonly message: string };

/** A session that is not open, and how it is found. */
export type SessionSearch =
  | { readonly type: "found"; readonly session: Pick<SessionInfo, "sessionId" | "cwd"> }
  | { readonly type: "none" }
  | { readonly type: "ambiguous"; readonly count: number };

/** The length of a whole id: what is shorter is the beginning of one. */
const ID_LENGTH = 36;

/** Talks to the agent. Its methods reject with what {@linkcode problemText} explains. */
export class Conversation {
  readonly #agent: ClientContext;
  readonly #cwd: string;
  #session: Pick<SessionInfo, "sessionId" | "cwd"> | undefined;
  #options: readonly SessionConfigOption[] = [];
  #prompted = false;

  /** `cwd`: where new sessions work; absolute. */
  constructor(agent: ClientContext, cwd: string) {
    this.#agent = agent;
    this.#cwd = cwd;
  }

  /** The id of the open session. */
  get sessionId(): string | undefined {
    return this.#session?.sessionId;
  }

  /** The working directory of the open session. */
  get cwd(): string {
    return this.#session?.cwd ?? this.#cwd;
  }

  /** The options of the open session, with their values. */
  get options(): readonly SessionConfigOption[] {
    return this.#options;
  }

  /** Whether the open session has something to come back to. */
  get prompted(): boolean {
    return this.#prompted;
  }

  /** Opens a new session; the one before it is closed. */
  async start(): Promise<void> {
    const cwd = this.#cwd;
    const { sessionId, configOptions } = await this.#agent.request("session/new", {
      cwd,
      mcpServers: [],
    });
    await this.#replace({ sessionId, cwd }, configOptions, false);
  }

  /** Opens a stored session; with `replay`, its updates arrive again. */
  async load(
    session: Pick<SessionInfo, "sessionId" | "cwd">,
    { replay }: { readonly replay: boolean },
  ): Promise<void> {
    const before = this.#session;
    const { sessionId, cwd } = session;
    // What is replayed comes before the response.
    this.#session = { sessionId, cwd };
    try {
      const { configOptions } = await this.#agent.request(
        replay ? "session/load" : "session/resume",
        { sessionId, cwd, mcpServers: [] },
      );
      this.#session = before;
      await this.#replace({ sessionId, cwd }, configOptions, true);
    } catch (error) {
      this.#session = before;
      throw error;
    }
  }

  /** Finds a stored session by its id or the beginning of it. */
  async find(id: string): Promise<SessionSearch> {
    const found: SessionInfo[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#agent.request("session/list", { ...cursor && { cursor } });
      for (const session of page.sessions) {
        if (session.sessionId === id) return { type: "found", session };
        if (session.sessionId.startsWith(id)) found.push(session);
      }
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    if (found.length > 1) return { type: "ambiguous", count: found.length };
    if (found.length === 0 && id.length < ID_LENGTH) return { type: "none" };
    // One that was never prompted is not listed; the agent knows whether there is one.
    return { type: "found", session: found[0] ?? { sessionId: id, cwd: this.#cwd } };
  }

  /** The newest sessions of the working directory. */
  async list(): Promise<{ readonly sessions: readonly SessionInfo[]; readonly more: boolean }> {
    const page = await this.#agent.request("session/list", { cwd: this.#cwd });
    return { sessions: page.sessions, more: page.nextCursor != null };
  }

  /** Sends a prompt and waits for the end of its turn. */
  async prompt(text: string): Promise<TurnOutcome> {
    try {
      this.#prompted = true;
      const { stopReason } = await this.#agent.request("session/prompt", {
        sessionId: this.#id(),
        prompt: [{ type: "text", text }],
      });
      return { type: "ended", reason: stopReason };
    } catch (error) {
      return { type: "failed", message: problemText(error) };
    } finally {
      // The SDK starts the handlers of updates before that of the response, but waits for none.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }

  /** Cancels the running turn, which then ends. */
  async cancel(): Promise<void> {
    await this.#agent.notify("session/cancel", { sessionId: this.#id() });
  }

  /** Sets an option. */
  async choose(configId: string, value: string): Promise<void> {
    const sessionId = this.#id();
    const answer = await this.#agent.request("session/set_config_option", {
      sessionId,
      configId,
      value,
    });
    this.#options = answer.configOptions;
  }

  /** Takes what an update says of the session, and tells whether it is of the open one. */
  take(sessionId: string, update: SessionUpdate): boolean {
    if (sessionId !== this.sessionId) return false;
    if (update.sessionUpdate === "config_option_update") this.#options = update.configOptions;
    return true;
  }

  async #replace(
    session: Pick<SessionInfo, "sessionId" | "cwd">,
    options: readonly SessionConfigOption[] | null | undefined,
    prompted: boolean,
  ): Promise<void> {
    const before = this.#session;
    this.#session = session;
    this.#options = options ?? [];
    this.#prompted = prompted;
    if (before && before.sessionId !== session.sessionId) {
      await this.#agent.request("session/close", { sessionId: before.sessionId });
    }
  }

  #id(): string {
    if (!this.#session) throw new Error("Cannot do this as no session is open");
    return this.#session.sessionId;
  }
}

/** What went wrong, for a person: the agent's own words where it has some. */
export function problemText(error: unknown): string {
  const { data, message } = error instanceof RequestError
    ? { data: error.data as { details?: unknown } | undefined, message: error.message }
    : { data: undefined, message: error instanceof Error ? error.message : String(error) };
  return typeof data?.details === "string" ? data.details : message;
}
