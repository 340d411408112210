/** Runs ripgrep as a bounded child process. */

/** One run. */
export interface RipgrepRun {
  readonly args: readonly string[];
  /** The folder it searches, absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** What ends a record of the output. */
  readonly separator: "\n" | "\0";
  /** Takes one record. Answering false ends the run: there is enough. */
  onRecord(record: string): boolean;
}

/** How a run ended. */
export type RipgrepOutcome =
  /** `error` is what it wrote to stderr, for example about folders it could not read. */
  | { readonly type: "done"; readonly code: number; readonly error: string }
  /** `onRecord` had enough, or the signal aborted: the process was killed. */
  | { readonly type: "stopped" }
  /** It is not installed, or Deno may not run it. */
  | { readonly type: "absent" };

/** What a record may have at most, in UTF-16 units. A longer one is cut. */
const MAX_RECORD = 64 * 1024;
const MAX_STDERR = 8 * 1024;

/** A ripgrep program that may be absent. It is found out at first use and remembered. */
export class Ripgrep {
  #program: string;
  #absent = false;

  /** `program` is a name that PATH resolves, or an absolute path, or false where there is none. */
  constructor(program: string | false) {
    this.#program = program || "";
    this.#absent = program === false;
  }

  /** Runs it, without a shell and without the environment. */
  async run(run: RipgrepRun): Promise<RipgrepOutcome> {
    if (this.#absent) return { type: "absent" };
    const child = this.#spawn(run);
    if (child === undefined) return { type: "absent" };
    let stopped = false;
    const stop = () => {
      if (stopped) return;
      stopped = true;
      kill(child);
    };
    run.signal.addEventListener("abort", stop, { once: true });
    if (run.signal.aborted) stop();
    try {
      const error = collect(child.stderr);
      await readRecords(child.stdout, run.separator, (record) => {
        const more = !stopped && run.onRecord(record);
        if (!more) stop();
        return more;
      });
      const { code } = await child.status;
      const text = await error;
      return stopped ? { type: "stopped" } : { type: "done", code, error: text };
    } finally {
      run.signal.removeEventListener("abort", stop);
    }
  }

  #spawn(run: RipgrepRun): Deno.ChildProcess | undefined {
    try {
      return new Deno.Command(this.#program, {
        args: ["--no-config", "--color=never", ...run.args],
        cwd: run.cwd,
        clearEnv: true,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    } catch (error) {
      if (
        error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable ||
        error instanceof Deno.errors.PermissionDenied
      ) {
        this.#absent = true;
        return undefined;
      }
      throw error;
    }
  }
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended by itself, which is what was wanted.
  }
}

async function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    // The rest is read and dropped, so that the process never waits for a reader.
    if (text.length < MAX_STDERR) text += part.slice(0, MAX_STDERR - text.length);
  }
  return text.trim();
}

async function readRecords(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  separator: string,
  onRecord: (record: string) => boolean,
): Promise<void> {
  let rest = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    const records = part.split(separator);
    records[0] = rest + records[0];
    rest = (records.pop() ?? "").slice(0, MAX_RECORD);
    // Leaving the loop cancels the stream.
    for (const record of records) if (!onRecord(record)) return;
  }
  if (rest !== "") onRecord(rest);
}
