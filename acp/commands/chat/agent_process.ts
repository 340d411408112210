/** The agent as a child process, and the ACP connection to it. */
import { client, type ClientApp, type ClientContext, ndJsonStream } from "@agentclientprotocol/sdk";

/** How the agent is started and listened to. */
export interface AgentProcessOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Registers what the client does. */
  readonly handle: (app: ClientApp) => ClientApp;
  /** Is given each line that the agent writes to stderr. */
  readonly onStderr: (line: string) => void;
}

/** A running agent. Disposing it ends the process, whatever that takes. */
export interface AgentProcess extends AsyncDisposable {
  /** Calls to the agent. */
  readonly agent: ClientContext;
  /** Aborted once nothing can be asked of the agent any more; the process then ends. */
  readonly closed: AbortSignal;
  /** Resolves once the process has ended, with how. */
  readonly ended: Promise<Deno.CommandStatus>;
}

/** How long an agent without a client may take to end its sessions, in milliseconds. */
const END_MS = 3_000;
/** How long its last lines are waited for once it has ended, in milliseconds. */
const LAST_WORDS_MS = 500;

/** Starts the agent. */
export function startAgentProcess(options: AgentProcessOptions): AgentProcess {
  const [program = "", ...args] = options.command;
  const child = new Deno.Command(program, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    // Ctrl-C on the terminal is for this process, which tells the agent what it means.
    detached: true,
  }).spawn();
  const stdin = child.stdin.getWriter();
  const frames = new WritableStream<Uint8Array>({ write: (frame) => stdin.write(frame) });
  const connection = options.handle(client({ name: "dsh-acp-chat" }))
    .connect(ndJsonStream(frames, child.stdout));
  const lines = readLines(child.stderr, options.onStderr);
  const ended = child.status.then(async (status) => {
    // Its last words explain its end; what it left behind must not hold it up.
    await Promise.race([lines, new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS))]);
    return status;
  });
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> =>
    ending ??= (async () => {
      // The agent ends when its stdin does; it stops its own commands first.
      stdin.close().catch(() => {
        // It has ended already.
      });
      const kill = setTimeout(() => child.kill("SIGKILL"), END_MS);
      await child.status;
      clearTimeout(kill);
      await ended;
    })();
  connection.closed.then(end);
  return {
    agent: connection.agent,
    closed: connection.signal,
    ended,
    [Symbol.asyncDispose]: end,
  };
}

async function readLines(
  stream: ReadableStream<Uint8Array>,
  onLine: (line: string) => void,
): Promise<void> {
  for await (const line of splitLines(stream)) onLine(line);
}

/** The lines of a byte stream, without their ends. */
export async function* splitLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
  }
  if (rest !== "") yield rest;
}
