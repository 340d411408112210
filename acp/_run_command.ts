/** What is not serving: hands each command what it needs of the program's surroundings. */
import type { FoundRunner } from "./_containment_notice.ts";
import { type PermissionQuery, readGrants } from "./_grants.ts";
import { processLookup } from "./_process_identity.ts";
import type { CommandInvocation, StoreCommandName } from "./settings.ts";

/** The program's surroundings. */
export interface CommandEdge {
  readonly env: Readonly<Record<string, string>>;
  readonly granted: PermissionQuery;
  readonly query: (descriptor: Deno.PermissionDescriptor) => Deno.PermissionStatus;
  /** Of this program. */
  readonly version: string;
  readonly cwd: () => string;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly stdin: typeof Deno.stdin;
  readonly stdout: Pick<typeof Deno.stdout, "writable" | "isTerminal">;
  /** Writes to stdout; says nothing where its reader is gone. */
  readonly print: (text: string) => void;
  /** Writes to stdout at once. */
  readonly write: (bytes: Uint8Array) => number;
  /** Writes to stderr at once. */
  readonly writeError: (bytes: Uint8Array) => number;
  /** Writes one line for a person to stderr. */
  readonly complain: (message: string) => void;
  readonly build: Pick<typeof Deno.build, "os" | "standalone">;
  readonly program: {
    readonly execPath: () => string;
    readonly mainModule: string;
    readonly denoVersion: string;
    readonly hasKv: boolean;
  };
  readonly columns: () => number;
  /** Calls back when the process is told to end. */
  readonly onSignal: (told: (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => void) => void;
  /** Looks for the sandbox; folders to avoid are absolute. */
  readonly probeSandbox: (avoid: readonly string[]) => Promise<FoundRunner>;
}

/** Runs a command. Resolves with the exit code. */
export async function runCommand(
  invocation: CommandInvocation,
  edge: CommandEdge,
): Promise<number> {
  const { env, granted, complain, print } = edge;
  switch (invocation.type) {
    case "completions": {
      const { completionsCommand } = await import("./commands/completions_command.ts");
      return completionsCommand(invocation.args, { print, complain });
    }
    case "program": {
      const { runProgramCommand } = await import("./commands/run_program_command.ts");
      const { name, args, settings } = invocation;
      const ask = (text: string): void => {
        edge.writeError(new TextEncoder().encode(text));
      };
      const keyboard = edge.stdin;
      return await runProgramCommand(name, args, {
        settings,
        env,
        granted,
        keyboard,
        ask,
        complain,
      });
    }
    case "doctor":
      return await examine(invocation, edge, print);
    case "command":
      return invocation.name === "chat"
        ? await chat(invocation, edge)
        : await lookAfterStore(invocation.name, invocation, edge, print);
    default: {
      const never: never = invocation;
      throw new TypeError(`Cannot run an unknown command: ${JSON.stringify(never)}`);
    }
  }
}

async function examine(
  { args, model, settings }: Extract<CommandInvocation, { type: "doctor" }>,
  edge: CommandEdge,
  print: (text: string) => void,
): Promise<number> {
  const { doctorCommand } = await import("./commands/doctor_command.ts");
  const { env, granted, complain, version } = edge;
  const { os } = edge.build;
  // What a command of the model may have put there is not what is to be found.
  const avoid = granted({ name: "read" }) ? [edge.cwd()] : [];
  return await doctorCommand(args, {
    settings,
    model,
    env,
    os,
    denoVersion: edge.program.denoVersion,
    version,
    granted,
    grants: readGrants(granted, os),
    avoid,
    probe: () => edge.probeSandbox(avoid),
    complain,
    print,
  });
}

async function lookAfterStore(
  name: StoreCommandName,
  { args, settings }: Extract<CommandInvocation, { type: "command" }>,
  { granted, now, stdin, stdout, complain }: CommandEdge,
  print: (text: string) => void,
): Promise<number> {
  const { runStoreCommand } = await import("./commands/run_store_command.ts");
  return await runStoreCommand(name, args, {
    ...settings,
    now,
    input: stdin.readable,
    output: stdout.writable,
    complain,
    print,
    lease: await processLookup(granted),
  });
}

/** Talks to the agent, which is a process of its own. */
async function chat(
  { args, flags }: Extract<CommandInvocation, { type: "command" }>,
  edge: CommandEdge,
): Promise<number> {
  const { runChat } = await import("./commands/chat/run_chat.ts");
  const { mainModule, hasKv, execPath } = edge.program;
  return await runChat(args, {
    program: {
      execPath: execPath(),
      mainModule,
      standalone: edge.build.standalone,
      hasKv,
    },
    flags,
    query: edge.query,
    cwd: edge.cwd(),
    stdin: edge.stdin,
    stdout: edge.write,
    stderr: edge.writeError,
    isTerminal: edge.stdout.isTerminal(),
    colour: !edge.env["NO_COLOR"],
    columns: edge.columns,
    onSignal: edge.onSignal,
  });
}
