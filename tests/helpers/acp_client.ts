/** Drives an ACP agent program over stdio, and judges every frame it writes. */
import type { Json, JsonObject } from "../../tools/json.ts";
import {
  type Answer,
  asUpdate,
  clip,
  type Frame,
  isCommandList,
  isJsonObject,
  member,
  parseFrame,
  RpcFailure,
  type UpdateFrame,
} from "./frames.ts";
import { FrameJudge } from "./frame_judge.ts";
import { LineReader } from "./lines.ts";
import { programCommand } from "./program.ts";

/** Answers a request of the agent. What it throws becomes the error answer. */
export type ClientHandler = (params: JsonObject) => JsonObject | Promise<JsonObject>;

/** Options for {@linkcode AcpClient.spawn}. */
export interface AcpClientOptions {
  /** The program and its arguments. @default {deno run -A mod.ts} */
  readonly command?: readonly string[];
  readonly cwd?: string;
  /** The whole environment of the program. @default {this process's environment} */
  readonly env?: Readonly<Record<string, string>>;
  /** Answers by method; others are answered with -32601. */
  readonly handlers?: Readonly<Record<string, ClientHandler>>;
  /** Whether a frame that breaks the protocol fails the test. @default {true} */
  readonly strict?: boolean;
}

/** How the program ended. */
export interface ExitFrame {
  readonly code: number;
  readonly signal: Deno.Signal | null;
  /** `performance.now()` when it was gone. */
  readonly at: number;
}

/** An answer to come, and the id its request has on the wire. */
export type PendingAnswer = Promise<Answer> & { readonly id: number };

/** How long a test waits for anything, in milliseconds. It only bounds a failure. */
const PATIENCE = 20_000;
/** How long the program may take to end after stdin closed, in milliseconds. */
const FAREWELL = 5_000;

interface Pending {
  readonly method: string;
  readonly params: JsonObject;
  readonly settle: PromiseWithResolvers<Answer>;
}

/**
 * A client of a real agent process. Every stdout line must be one JSON-RPC 2.0 message that obeys
 * the protocol's schema and names only sessions the agent has announced; the first that does not
 * rejects all that is awaited, and disposal rethrows it.
 *
 * @example
 * ```ts ignore
 * await using client = AcpClient.spawn({ env });
 * await client.initialize();
 * const { sessionId } = await client.call("session/new", { cwd, mcpServers: [] });
 * ```
 */
export class AcpClient implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #stdout: LineReader;
  readonly #reading: Promise<void>;
  readonly #handlers: Map<string, ClientHandler>;
  readonly #strict: boolean;
  readonly #pending = new Map<number, Pending>();
  readonly #watchers = new Set<() => void>();
  readonly #judge = new FrameJudge((id) => this.#pending.get(id)?.method);
  readonly #frames: Frame[] = [];
  readonly #updates: UpdateFrame[] = [];
  readonly #stderr: string[] = [];
  readonly #problems: Error[] = [];
  readonly #surfaced = new Set<Error>();
  #stdinClosed = false;
  #lastId = 0;
  #exit: ExitFrame | undefined;
  /** Settles when the program is gone and all of its output is read. */
  readonly exited: Promise<ExitFrame>;
  /** `performance.now()` just before the program was started. */
  readonly startedAt: number;

  private constructor(options: AcpClientOptions) {
    const [program, ...args] = options.command ?? programCommand();
    if (program === undefined) throw new TypeError("Cannot spawn an empty command");
    this.#strict = options.strict ?? true;
    this.#handlers = new Map(Object.entries(options.handlers ?? {}));
    this.startedAt = performance.now();
    this.#child = new Deno.Command(program, {
      args,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.env && { env: { ...options.env }, clearEnv: true }),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#stdin = this.#child.stdin.getWriter();
    this.#stdout = new LineReader(this.#child.stdout, (line, at) => this.#onLine(line, at));
    const stderr = new LineReader(this.#child.stderr, (line) => this.#stderr.push(line));
    this.#reading = Promise.all([this.#stdout.run(), stderr.run()]).then(() => {});
    this.exited = this.#watchExit();
  }

  /** Starts the program. */
  static spawn(options: AcpClientOptions = {}): AcpClient {
    return new AcpClient(options);
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Every stdout line so far. */
  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /** Every session update so far. */
  get updates(): readonly UpdateFrame[] {
    return this.#updates;
  }

  /** Every stderr line so far. */
  get stderr(): readonly string[] {
    return this.#stderr;
  }

  /** What broke the protocol so far. */
  get problems(): readonly Error[] {
    return this.#problems;
  }

  /** The updates of one session after frame `after`, but those that list what can be typed. */
  updatesOf(sessionId: string, after = -1): JsonObject[] {
    return this.#updates.filter((one) => one.sessionId === sessionId && one.index > after)
      .map((one) => one.update).filter((one) => !isCommandList(one));
  }

  /** Sends `initialize` as an editor that shows terminal cards would, unless told otherwise. */
  initialize(params: JsonObject = {}): Promise<JsonObject> {
    return this.call("initialize", {
      protocolVersion: 1,
      clientCapabilities: { _meta: { terminal_output: true } },
      clientInfo: { name: "test", version: "0" },
      ...params,
    });
  }

  /** Sends a request. Rejects only where no answer comes. */
  request(method: string, params: JsonObject = {}): PendingAnswer {
    const id = ++this.#lastId;
    const settle = Promise.withResolvers<Answer>();
    this.#pending.set(id, { method, params, settle });
    if ((method === "session/load" || method === "session/resume") && params["sessionId"]) {
      this.#judge.announce(String(params["sessionId"]));
    }
    this.#send({ jsonrpc: "2.0", id, method, params }).catch(settle.reject);
    const answer = this.#patiently(settle.promise, `an answer to "${method}"`);
    return Object.assign(answer, { id });
  }

  /** Sends a request and returns its result; an error answer is thrown as {@linkcode RpcFailure}. */
  async call(method: string, params: JsonObject = {}): Promise<JsonObject> {
    const answer = await this.request(method, params);
    if (answer.type === "result") return answer.result;
    throw new RpcFailure(method, answer.error);
  }

  /** Sends a notification. */
  notify(method: string, params: JsonObject = {}): Promise<void> {
    return this.#send({ jsonrpc: "2.0", method, params });
  }

  /** Opens a session and returns its id. */
  async newSession(cwd: string, params: JsonObject = {}): Promise<string> {
    const result = await this.call("session/new", { cwd, mcpServers: [], ...params });
    return String(result["sessionId"]);
  }

  /** Sends a prompt: a text, or whole content blocks. */
  prompt(sessionId: string, prompt: string | readonly Json[]): PendingAnswer {
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
    return this.request("session/prompt", { sessionId, prompt: blocks });
  }

  /** Answers requests of this method from now on. */
  handle(method: string, handler: ClientHandler): void {
    this.#handlers.set(method, handler);
  }

  /** The first update after frame `after` that fits: one that is here already, or one to come. */
  nextUpdate(
    fits: (update: JsonObject, frame: UpdateFrame) => boolean,
    after = -1,
  ): Promise<UpdateFrame> {
    return this.until(
      () => this.#updates.find((one) => one.index > after && fits(one.update, one)),
      "an update",
    );
  }

  /** Waits until `look` returns something; it is asked again at every frame. */
  until<T>(look: () => T | undefined, what = "something"): Promise<T> {
    const found = Promise.withResolvers<T>();
    const watch = () => {
      const value = look();
      const [problem] = this.#strict ? this.#problems : [];
      if (value !== undefined) found.resolve(value);
      else if (problem) {
        this.#surfaced.add(problem);
        found.reject(problem);
      } else if (this.#exit) found.reject(this.#gone(what));
    };
    this.#watchers.add(watch);
    watch();
    return this.#patiently(found.promise, what).finally(() => this.#watchers.delete(watch));
  }

  /** Stops reading stdout, as a busy editor would. */
  pauseReading(): void {
    this.#stdout.pause();
  }

  /** Reads on. */
  resumeReading(): void {
    this.#stdout.resume();
  }

  /**
   * Writes to stdin as it is. From then on answers to ids this client did not send, or to none,
   * are no problem: look for them in {@linkcode frames}.
   */
  async writeRaw(data: string | Uint8Array): Promise<void> {
    this.#judge.allowForeignAnswers();
    await this.#write(data);
  }

  async #write(data: string | Uint8Array): Promise<void> {
    await this.#stdin.write(typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  /** Closes stdin. */
  async closeStdin(): Promise<void> {
    if (this.#stdinClosed) return;
    this.#stdinClosed = true;
    await this.#stdin.close();
  }

  /** Sends a signal to the program. @default {"SIGTERM"} */
  kill(signal: Deno.Signal = "SIGTERM"): void {
    if (!this.#exit) this.#child.kill(signal);
  }

  /** Ends the program by closing stdin, and tells how it ended. */
  async close(): Promise<ExitFrame> {
    this.resumeReading();
    await this.closeStdin().catch(() => {
      // The program was gone before: how it ended is in its exit.
    });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.kill("SIGKILL");
    }, FAREWELL);
    const exit = await this.exited.finally(() => clearTimeout(timer));
    if (late) {
      throw new Error(
        `The agent did not end within ${FAREWELL} ms of its stdin closing${this.#trail()}`,
      );
    }
    return exit;
  }

  /** Ends the program; throws the first broken frame nobody has seen yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    const unseen = this.#problems.find((problem) => !this.#surfaced.has(problem));
    if (unseen && this.#strict) throw unseen;
  }

  async #watchExit(): Promise<ExitFrame> {
    const status = await this.#child.status;
    const at = performance.now();
    await this.#reading;
    this.#exit = { code: status.code, signal: status.signal, at };
    for (const { method, settle } of this.#pending.values()) {
      settle.reject(this.#gone(`an answer to "${method}"`));
    }
    this.#pending.clear();
    if (!this.#stdinClosed) {
      this.#stdinClosed = true;
      await this.#stdin.close().catch(() => {
        // The pipe broke with the program.
      });
    }
    this.#wake();
    return this.#exit;
  }

  #onLine(line: string, at: number): void {
    const message = parseFrame(line);
    const frame: Frame = { index: this.#frames.length, at, line, message };
    this.#frames.push(frame);
    const found = this.#judge.problems(frame);
    if (found.length > 0) this.#break(frame, found);
    if (message) this.#dispatch(frame, message);
    this.#wake();
  }

  #dispatch(frame: Frame, message: JsonObject): void {
    const id = message["id"];
    const method = message["method"];
    if (typeof method === "string") {
      const update = asUpdate(frame);
      if (update) this.#updates.push(update);
      if (id !== undefined) this.#answer(id, method, member(message, "params"));
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (typeof id !== "number" || !pending) return;
    this.#pending.delete(id);
    const { at, index } = frame;
    if (isJsonObject(message["error"])) {
      const error = message["error"] as unknown as Extract<Answer, { type: "error" }>["error"];
      pending.settle.resolve({ type: "error", error, at, index });
    } else {
      pending.settle.resolve({ type: "result", result: member(message, "result"), at, index });
    }
  }

  async #answer(id: Json, method: string, params: JsonObject): Promise<void> {
    let reply: JsonObject;
    const handler = this.#handlers.get(method);
    try {
      if (!handler) throw new RpcFailure(method, { code: -32601, message: "Method not found" });
      reply = { result: await handler(params) };
    } catch (error) {
      const code = error instanceof RpcFailure ? error.code : -32603;
      reply = { error: { code, message: error instanceof Error ? error.message : String(error) } };
    }
    await this.#send({ jsonrpc: "2.0", id, ...reply }).catch(() => {
      // The program ended while it was asking.
    });
  }

  #break(frame: Frame, found: readonly string[]): void {
    const problem = new Error(
      `Frame ${frame.index} breaks the protocol: ${found.join("; ")}\n  ${clip(frame.line)}`,
    );
    this.#problems.push(problem);
    if (!this.#strict) return;
    for (const { settle } of this.#pending.values()) {
      this.#surfaced.add(problem);
      settle.reject(problem);
    }
  }

  #wake(): void {
    for (const watch of this.#watchers) watch();
  }

  async #send(message: JsonObject): Promise<void> {
    await this.#write(`${JSON.stringify(message)}\n`);
  }

  /** Bounds a wait, so that a test that would hang says what it was waiting for. */
  async #patiently<T>(promise: Promise<T>, what: string): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Error(`No ${what.replace(/^an? /, "")} in ${PATIENCE} ms${this.#trail()}`));
    }, PATIENCE);
    try {
      return await Promise.race([promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #gone(what: string): Error {
    const { code, signal } = this.#exit ?? {};
    return new Error(
      `The agent ended (${signal ?? `code ${code}`}) before ${what} came${this.#trail()}`,
    );
  }

  #trail(): string {
    const frames = this.#frames.slice(-5).map((frame) => `\n  stdout: ${clip(frame.line)}`);
    const stderr = this.#stderr.slice(-10).map((line) => `\n  stderr: ${clip(line)}`);
    return [...frames, ...stderr].join("");
  }
}
