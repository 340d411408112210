import { resolve } from "node:path";
import type { SandboxPolicy } from "../tools/sandbox_policy.ts";
import type { ToolContext } from "../tools/tool.ts";
import { SessionFolder } from "./_session_folder.ts";
import { BackgroundTasks } from "./background_tasks.ts";
import { shellEnvironment, withoutServices } from "./env.ts";
import type { RunOptions } from "./run_command.ts";
import { serviceMasks } from "./sandbox/service_masks.ts";
import { chooseContainment } from "./sandbox/choose_containment.ts";
import type { SandboxProbe, SandboxRunner } from "./sandbox/probe.ts";
import { nestedRepositories } from "./sandbox/git_places.ts";
import { type GuardedPaths, guardedPaths } from "./sandbox/guarded_paths.ts";
import { sealNewPaths } from "./sandbox/seal_new_paths.ts";
import { Sweeper } from "./sweeper.ts";

/** Options for {@linkcode BashSession}. */
export interface BashSessionOptions {
  /** The program's own environment; secrets are dropped from it. */
  readonly env: Readonly<Record<string, string>>;
  /** Finds the sandbox runner. */
  readonly probe: SandboxProbe;
  /** An existing folder in which the session's private one is made. */
  readonly tempRoot: string;
  /** How that folder's name begins, and no other session's: what is left of earlier ones goes. */
  readonly folderPrefix?: string;
}

/** What a command runs with, or why it cannot run. */
export type Preparation =
  | {
    readonly type: "ready";
    readonly options: Pick<
      RunOptions,
      "cwd" | "env" | "containment" | "avoid" | "spill" | "sweeper"
    >;
  }
  | { readonly type: "refused"; readonly message: string };

/** What the commands of one session share. Disposing it ends its tasks and removes its files. */
export class BashSession implements AsyncDisposable {
  /** The session's background tasks. */
  readonly tasks: BackgroundTasks;
  readonly #options: BashSessionOptions;
  readonly #sweeper = new Sweeper();
  readonly #folder: SessionFolder;
  readonly #nested = new Map<string, readonly string[]>();
  /** What was protected when the first command began that has not been looked at since. */
  #guarded: GuardedPaths | undefined;

  /** Nothing is started or made before it is needed. */
  constructor(options: BashSessionOptions) {
    this.#options = options;
    this.#folder = new SessionFolder(options.tempRoot, options.folderPrefix);
    this.tasks = new BackgroundTasks();
  }

  /** The sandbox runner of this machine. */
  runner(): Promise<SandboxRunner> {
    return this.#options.probe.runner();
  }

  /** Puts together what a command of this session runs with. */
  async prepare(
    context: Pick<ToolContext, "cwd" | "policy">,
    workdir?: string,
  ): Promise<Preparation> {
    const cwd = resolve(context.cwd, workdir ?? ".");
    if (!await isDirectory(cwd)) {
      return {
        type: "refused",
        message:
          `Cannot run the command as its workdir must be an existing folder: current value is "${cwd}"`,
      };
    }
    const [runner, folders] = await Promise.all([this.runner(), this.#folder.folders()]);
    this.sealNewPaths();
    const policy = this.#guard(context.policy);
    const fenced = policy.mode !== "danger-full-access" && policy.enforcement === "sandbox";
    const own = [...policy.writableRoots, ...folders ? [folders.tmp] : []];
    const choice = chooseContainment({
      policy,
      runner,
      cwd,
      ...(folders && { tmpDir: folders.tmp, readable: [folders.output] }),
      ...(fenced && { services: serviceMasks(own, this.#options.env) }),
    });
    if (choice.type === "refused") return choice;
    const env = shellEnvironment(
      this.#options.env,
      folders && fenced ? { TMPDIR: folders.tmp } : {},
    );
    return {
      type: "ready",
      options: {
        cwd,
        env: fenced ? withoutServices(env) : env,
        containment: choice.containment,
        avoid: policy.writableRoots,
        sweeper: this.#sweeper,
        ...(folders && { spill: { dir: folders.output } }),
      },
    };
  }

  /** Makes harmless what commands created where git looks, once none of them runs. */
  sealNewPaths(): void {
    if (this.#guarded === undefined) return;
    if (this.tasks.list().some(({ state }) => state.type === "running")) return;
    sealNewPaths(this.#guarded, this.#guardedPaths(this.#guarded.policy));
    this.#guarded = undefined;
  }

  /** Adds to the protected paths what git would run something from. */
  #guard(policy: SandboxPolicy): SandboxPolicy {
    // Elsewhere nothing can be written, or everything.
    if (policy.mode !== "workspace-write" || policy.enforcement !== "sandbox") return policy;
    const guarded = this.#guardedPaths(policy);
    this.#guarded ??= guarded;
    return { ...policy, protectedPaths: [...guarded.paths] };
  }

  #guardedPaths(policy: SandboxPolicy): GuardedPaths {
    return guardedPaths(policy, (root) => {
      // Once: what a command clones later is its own business.
      const nested = this.#nested.get(root) ?? nestedRepositories(root);
      this.#nested.set(root, nested);
      return nested;
    });
  }

  /** Ends the tasks, then removes the files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.tasks[Symbol.asyncDispose]();
    await this.#sweeper.idle();
    this.sealNewPaths();
    await this.#folder[Symbol.asyncDispose]();
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch {
    // Missing, or not ours to enter.
    return false;
  }
}
