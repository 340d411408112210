/** What the tests of bash/ share: real shells, real folders, a look at the process table. */
import { join } from "node:path";
import type { SandboxMode, SandboxPolicy } from "../../tools/sandbox_policy.ts";
import type { ToolContext } from "../../tools/tool.ts";
import type { CommandResult } from "../../bash/command_result.ts";
import { shellEnvironment } from "../../bash/env.ts";
import { runCommand, type RunOptions } from "../../bash/run_command.ts";
import { bubblewrapArgs } from "../../bash/sandbox/bubblewrap.ts";
import { type Containment, PROCESS_GROUP } from "../../bash/sandbox/containment.ts";

/** A folder that goes with its scope. */
export class TempFolder implements AsyncDisposable {
  readonly path: string;

  constructor() {
    this.path = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "dsh-bash-test-" }));
  }

  folder(name: string): string {
    const path = join(this.path, name);
    Deno.mkdirSync(path, { recursive: true });
    return path;
  }

  file(name: string, text = ""): string {
    const path = join(this.path, name);
    Deno.writeTextFileSync(path, text);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

export const ENV: Record<string, string> = shellEnvironment(Deno.env.toObject());

export function policyFor(
  root: string,
  mode: SandboxMode,
  more: Partial<SandboxPolicy> = {},
): SandboxPolicy {
  return {
    mode,
    writableRoots: [root],
    protectedPaths: [],
    network: "on",
    enforcement: "sandbox",
    ...more,
  };
}

/** bubblewrap as it stands around a command with full access. */
export const NAMESPACE: Containment = {
  type: "bubblewrap",
  program: "bwrap",
  args: bubblewrapArgs({ policy: policyFor("/", "danger-full-access"), cwd: "/" }),
};

/** Everything that must hold with and without a sandbox runs in both. */
export const CONTAINMENTS: readonly Containment[] = [PROCESS_GROUP, NAMESPACE];

export function run(
  command: string,
  options: Partial<RunOptions> = {},
): Promise<CommandResult> {
  return runCommand(command, { cwd: "/", env: ENV, containment: PROCESS_GROUP, ...options });
}

/** Declares one test per containment. */
export function testContained(
  name: string,
  body: (containment: Containment) => Promise<void>,
): void {
  for (const containment of CONTAINMENTS) {
    Deno.test(`${name} [${containment.type}]`, () => body(containment));
  }
}

let used = 0;

/** A duration for `sleep` that no other process on the machine has. */
export function uniqueSeconds(): string {
  return `3${Deno.pid}${String(++used).padStart(3, "0")}`;
}

/** Whether a process runs that has `word` among its arguments. */
export function isRunning(word: string): boolean {
  for (const entry of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(entry.name)) continue;
    try {
      const args = Deno.readTextFileSync(`/proc/${entry.name}/cmdline`).split("\0");
      if (args.includes(word)) return true;
    } catch {
      // It ended in the meantime.
    }
  }
  return false;
}

/** Waits until no process has `word` among its arguments; fails after two seconds. */
export async function waitUntilGone(word: string): Promise<void> {
  const deadline = performance.now() + 2_000;
  while (isRunning(word)) {
    if (performance.now() > deadline) throw new Error(`A process with "${word}" is still there`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The context of a tool call in `cwd`. */
export function contextFor(
  cwd: string,
  policy: SandboxPolicy,
  more: Partial<ToolContext> = {},
): ToolContext {
  return {
    sessionId: "session",
    callId: "call",
    cwd,
    policy,
    signal: new AbortController().signal,
    output: () => {},
    ...more,
  };
}
