/** The program on a terminal of its own, which `script` (util-linux) makes. */
import { programCommand } from "./program.ts";

/** Where the program runs. */
export interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** A shell command for the same terminal, run afterwards. */
  readonly then?: string;
}

/** Whether this machine has it. */
export const hasTerminal: boolean = Deno.build.os === "linux" &&
  new Deno.Command("sh", {
    args: ["-c", "script --version | grep -q util-linux"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).outputSync().success;

/** A program that sees a person with a keyboard. Disposal takes the terminal away. */
export class TerminalProgram implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #keys: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  #shown = "";
  #seen = 0;
  #wake = Promise.withResolvers<void>();

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#keys = child.stdin.getWriter();
    this.#reading = this.#read();
  }

  static start(args: readonly string[], { env, cwd, then }: TerminalOptions): TerminalProgram {
    const words = [...programCommand(), ...args].map((word) => `'${word}'`).join(" ");
    const script = then === undefined ? words : `${words}; code=$?; ${then}; exit $code`;
    return new TerminalProgram(
      new Deno.Command("script", {
        args: ["--quiet", "--return", "--command", script, "/dev/null"],
        env: { ...env, TERM: "xterm-256color", SHELL: "/bin/sh" },
        clearEnv: true,
        cwd,
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
      }).spawn(),
    );
  }

  /** Everything on the screen so far. */
  get shown(): string {
    return this.#shown;
  }

  /** Presses keys. */
  async type(keys: string): Promise<void> {
    await this.#keys.write(new TextEncoder().encode(keys));
  }

  /** Waits until the screen shows a text behind the one that was waited for before. */
  async until(text: string, timeout = 20_000): Promise<void> {
    const late = AbortSignal.timeout(timeout);
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    late.addEventListener("abort", () => resolve());
    for (;;) {
      const at = this.#shown.indexOf(text, this.#seen);
      if (at !== -1) {
        this.#seen = at + text.length;
        return;
      }
      if (late.aborted) {
        throw new Error(`No "${text}" within ${timeout} ms in: ${this.#shown.slice(this.#seen)}`);
      }
      await Promise.race([this.#wake.promise, isLate]);
    }
  }

  /** The exit code, once everything that was written is on the screen. */
  async exited(): Promise<number> {
    const { code } = await this.#child.status;
    await this.#reading;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#keys.close().catch(() => {
      // Its terminal is gone.
    });
    await this.exited();
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      this.#shown += text;
      this.#wake.resolve();
      this.#wake = Promise.withResolvers();
    }
  }
}
