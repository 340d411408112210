/** An MCP server as a child process that speaks JSON-RPC, one message a line, on its stdin and stdout. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

/** What is started. */
export interface ProcessServer {
  /** The program: a path, or a name that is looked up on `env.PATH`. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  /** Receives what it writes to stderr. Absent: that is discarded. */
  readonly log?: (text: string) => void;
}

/** How long a server has to end by itself once its stdin is closed, and then after SIGTERM, in ms. */
const PATIENCE = 500;

/** The longest line that is read, in characters: a server that never ends one must not fill memory. */
const LONGEST_LINE = 32 * 1024 * 1024;

/** How much may wait until the server reads it: it may ask for ever and never read the answers. */
const MOST_UNREAD = { messages: 10_000, bytes: 64 * 1024 * 1024 };

/** Runs the server in a process group of its own; closing ends the whole group. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #server: ProcessServer;
  #child: Deno.ChildProcess | undefined;
  #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #unread = { messages: 0, bytes: 0 };
  #closing: Promise<void> | undefined;
  #ended: Promise<void> = Promise.resolve();
  #endedBy: string | undefined;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(server: ProcessServer) {
    this.#server = server;
  }

  /** Why it ended without being closed, as part of a sentence; or undefined. */
  get endedBy(): string | undefined {
    return this.#endedBy;
  }

  // An async function, so that a program that is not there rejects.
  // deno-lint-ignore require-await
  async start(): Promise<void> {
    // A session can be over before its servers are started, and nobody would end this one.
    if (this.#closing) throw new Error("the session has ended");
    const { command, args, env, cwd, log } = this.#server;
    const child = new Deno.Command(command, {
      args: [...args],
      env: { ...env },
      clearEnv: true,
      cwd,
      stdin: "piped",
      stdout: "piped",
      stderr: log ? "piped" : "null",
      detached: true,
    }).spawn();
    this.#child = child;
    this.#input = child.stdin.getWriter();
    this.#reading = Promise.all([
      this.#readMessages(child.stdout),
      log && this.#readLog(child.stderr, log),
    ]);
    this.#ended = endOf(child).then((end) => {
      if (!this.#closing) this.#endedBy = `its process ended with ${end}`;
    });
    void this.#ended.then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#input || this.#closing) throw new Error("the server's process has ended");
    const line = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
    const { messages, bytes } = this.#unread;
    if (messages >= MOST_UNREAD.messages || bytes + line.length > MOST_UNREAD.bytes) {
      this.#fail(new Error("it does not read what it is sent"));
      throw new Error("the server does not read what it is sent");
    }
    this.#unread.messages++;
    this.#unread.bytes += line.length;
    try {
      await this.#input.write(line);
    } finally {
      this.#unread.messages--;
      this.#unread.bytes -= line.length;
    }
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    const child = this.#child;
    if (child) {
      // The specified end: a closed stdin, then SIGTERM, then SIGKILL.
      this.#input?.close().catch(() => {
        // The process went first.
      });
      if (!await inTime(this.#ended)) {
        signalGroup(child, "SIGTERM");
        await inTime(this.#ended);
      }
      // Also what it started and left behind, which still holds its output.
      signalGroup(child, "SIGKILL");
      await this.#ended;
      // What is out of reach may hold its output open.
      await inTime(this.#reading);
    }
    this.onclose?.();
  }

  async #readMessages(stdout: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    try {
      for await (const text of stdout.pipeThrough(decoder())) {
        const lines = text.split("\n");
        lines[0] = rest + lines[0];
        rest = lines.pop() ?? "";
        if (rest.length > LONGEST_LINE) {
          throw new Error(`it sent a line of more than ${LONGEST_LINE} characters`);
        }
        for (const line of lines) this.#receive(line);
      }
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(error: Error): void {
    if (!this.#closing) this.#endedBy = error.message;
    this.onerror?.(error);
    void this.close();
  }

  #receive(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = JSON.parse(line);
    } catch {
      this.onerror?.(new Error(`a line is not JSON: ${line.slice(0, 200)}`));
      return;
    }
    this.onmessage?.(message);
  }

  async #readLog(stderr: ReadableStream<Uint8Array>, log: (text: string) => void): Promise<void> {
    try {
      for await (const text of stderr.pipeThrough(decoder())) log(text);
    } catch {
      // What it says can no longer be passed on.
    }
  }
}

/** The DOM types of the two ends differ in the buffer behind the bytes, which does not matter here. */
function decoder(): ReadableWritablePair<string, Uint8Array> {
  return new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
}

/** How it ended, in words. Deno has no name for real-time signals and fails with their number. */
function endOf(child: Deno.ChildProcess): Promise<string> {
  return child.status.then(
    ({ code, signal }) => signal ?? `code ${code}`,
    (error) => error instanceof Error ? error.message : String(error),
  );
}

/** Whether it settled within the patience there is. */
async function inTime(what: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), PATIENCE);
  try {
    return await Promise.race([what.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}

function signalGroup(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    Deno.kill(-child.pid, signal);
  } catch (error) {
    // Nothing is left of it.
    if (!(error instanceof Deno.errors.NotCapable)) return;
    // Where only some programs may be run, only the child itself can be reached.
    signalChild(child, signal);
  }
}

function signalChild(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It ended in the meantime.
  }
}
