import { programCommand } from "./program.ts";

/** How a command ended, and what it wrote. */
export interface CommandEnd {
  readonly code: number;
  readonly stdout: Uint8Array;
  /** `stdout` as text. */
  readonly text: string;
  readonly stderr: string;
}

/** Runs the program with arguments to its end; what is not in `env` it does not inherit. */
export async function runCommand(
  args: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly cwd?: string;
    readonly stdin?: ReadableStream<Uint8Array>;
    readonly command?: readonly string[];
  },
): Promise<CommandEnd> {
  const [program, ...rest] = options.command ?? programCommand();
  const child = new Deno.Command(program!, {
    args: [...rest, ...args],
    env: options.env,
    clearEnv: true,
    ...options.cwd !== undefined && { cwd: options.cwd },
    stdin: options.stdin ? "piped" : "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ code, stdout, stderr }] = await Promise.all([
    child.output(),
    options.stdin?.pipeTo(child.stdin).catch(() => {
      // The program ended without reading all of it; its exit code is what counts.
    }),
  ]);
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout, text: decode(stdout), stderr: decode(stderr) };
}
