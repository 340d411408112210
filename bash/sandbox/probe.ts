/** Which sandbox runner works on this machine. */
import { liveChildren } from "../_children.ts";
import { findProgram } from "../../tools/find_program.ts";

/** What {@linkcode SandboxProbe} finds. */
export type SandboxRunner =
  /** `root`: whether commands run as root in it. */
  | { readonly type: "bubblewrap"; readonly program: string; readonly root: boolean }
  | { readonly type: "seatbelt"; readonly program: string }
  | {
    readonly type: "none";
    /** Why there is no runner, as half a sentence. */
    readonly reason: string;
    /** What to do about it. */
    readonly advice: string;
  };

/** Options for {@linkcode SandboxProbe}. */
export interface ProbeOptions {
  /** The operating system, as in `Deno.build.os`. */
  readonly os: typeof Deno.build.os;
  /** The name or path of bubblewrap. @default {"bwrap"} */
  readonly bwrap?: string;
  /**
   * The `PATH` on which it is found: the one that commands get, or what is found here may not be
   * found for them.
   *
   * @default {"/usr/local/bin:/usr/bin:/bin"}
   */
  readonly path?: string;
  /** Absolute folders whose programs are not trusted: those that commands may write to. */
  readonly avoid?: readonly string[];
  /** The path of macOS's runner. @default {"/usr/bin/sandbox-exec"} */
  readonly sandboxExec?: string;
}

/** A runner that hangs is a runner that does not work. In milliseconds. */
const DEADLINE = 5_000;

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

const INSTALL = "Install bubblewrap 0.8 or newer: `apt install bubblewrap` (Debian, Ubuntu), " +
  "`dnf install bubblewrap` (Fedora), `pacman -S bubblewrap` (Arch)";

const APPARMOR =
  "Ubuntu's AppArmor rule keeps programs from making user namespaces. Allow it for bubblewrap " +
  "with a profile /etc/apparmor.d/bwrap that says `abi <abi/4.0>, include <tunables/global> " +
  "profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }` and " +
  "`systemctl reload apparmor`, or for everything with " +
  "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`";

const NAMESPACES = "Allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1` (Debian), " +
  "`sysctl user.max_user_namespaces=15000`, or in a container a seccomp profile that lets " +
  "`unshare` through";

/**
 * Finds the runner by running it, once, when it is first needed.
 *
 * @example
 * ```ts
 * import { assert } from "@std/assert";
 * import { SandboxProbe } from "@dsh/acp/bash";
 *
 * const probe = new SandboxProbe({ os: "linux", bwrap: "/nowhere/bwrap" });
 * const runner = await probe.runner();
 * assert(runner.type === "none" && runner.advice.includes("apt install bubblewrap"));
 * ```
 */
export class SandboxProbe {
  readonly #options: ProbeOptions;
  #runner: Promise<SandboxRunner> | undefined;

  /** Nothing is run before {@linkcode SandboxProbe.runner}. */
  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** The runner. Never rejects. */
  runner(): Promise<SandboxRunner> {
    return this.#runner ??= probe(this.#options);
  }
}

async function probe(options: ProbeOptions): Promise<SandboxRunner> {
  switch (options.os) {
    case "linux":
      return await probeBubblewrap(options);
    case "darwin":
      return await probeSeatbelt(options.sandboxExec ?? "/usr/bin/sandbox-exec");
    default:
      return {
        type: "none",
        reason: `there is no sandbox for ${options.os}`,
        advice: "Run in Linux (WSL, a container) or on macOS for sandboxed commands",
      };
  }
}

async function probeBubblewrap(options: ProbeOptions): Promise<SandboxRunner> {
  const path = options.path || DEFAULT_PATH;
  const program = findProgram(options.bwrap ?? "bwrap", path, options.avoid);
  if (program === undefined) {
    return { type: "none", reason: "bubblewrap is not installed", advice: INSTALL };
  }
  const args = "--ro-bind / / --dev /dev --proc /proc --unshare-pid --die-with-parent " +
    "--new-session --unshare-user --disable-userns --cap-drop ALL id -u";
  const outcome = await run(program, args.split(" "), path);
  switch (outcome.type) {
    case "ok":
      return { type: "bubblewrap", program, root: outcome.output.trim() === "0" };
    case "missing":
      return { type: "none", reason: "bubblewrap is not installed", advice: INSTALL };
    case "denied":
      return notAllowed(options.bwrap ?? "bwrap");
    case "failed":
      return { type: "none", ...explain(outcome.message) };
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

function explain(message: string): { reason: string; advice: string } {
  if (/unknown option/i.test(message)) {
    return { reason: "bubblewrap is too old", advice: INSTALL };
  }
  if (/namespace|uid map|gid map|operation not permitted|permission denied/i.test(message)) {
    return {
      reason: `bubblewrap may not make a user namespace (${message})`,
      advice: isRestrictedByAppArmor() ? APPARMOR : NAMESPACES,
    };
  }
  return { reason: `bubblewrap does not work (${message})`, advice: INSTALL };
}

function isRestrictedByAppArmor(): boolean {
  try {
    const path = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
    return Deno.readTextFileSync(path).trim() === "1";
  } catch {
    // Another kernel, or not ours to read.
    return false;
  }
}

async function probeSeatbelt(program: string): Promise<SandboxRunner> {
  const profile = "(version 1)(allow default)(deny file-write*)";
  const outcome = await run(program, ["-p", profile, "/bin/sh", "-c", ":"]);
  switch (outcome.type) {
    case "ok":
      return { type: "seatbelt", program };
    case "denied":
      return notAllowed(program);
    case "missing":
    case "failed":
      return {
        type: "none",
        reason: `${program} does not work`,
        advice: "It is part of macOS: a session that is sandboxed already cannot use it",
      };
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

function notAllowed(program: string): SandboxRunner {
  return {
    type: "none",
    reason: `this program may not run ${program}`,
    advice: `Grant it: --allow-run=${program}`,
  };
}

type Outcome =
  | { readonly type: "ok"; readonly output: string }
  | { readonly type: "missing" }
  | { readonly type: "denied" }
  | { readonly type: "failed"; readonly message: string };

async function run(program: string, args: string[], path = DEFAULT_PATH): Promise<Outcome> {
  try {
    const child = new Deno.Command(program, {
      args,
      clearEnv: true,
      env: { PATH: path },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const streams = [child.stdout.getReader(), child.stderr.getReader()] as const;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      endTree(child);
      // A child of its own may hold the pipes for ever.
      for (const stream of streams) void stream.cancel();
    }, DEADLINE);
    const [stdout, stderr] = await Promise.all(streams.map(readText));
    const { success, signal } = await child.status;
    clearTimeout(timer);
    if (late) return { type: "failed", message: `no answer in ${DEADLINE / 1_000} s` };
    if (success) return { type: "ok", output: stdout ?? "" };
    return { type: "failed", message: stderr?.trim() || (signal ?? "no word why") };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { type: "missing" };
    if (error instanceof Deno.errors.NotCapable) return { type: "denied" };
    return { type: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}

/** Ends a process and, as far as they can be seen and signalled, its children. */
function endTree(child: Deno.ChildProcess): void {
  for (const pid of liveChildren(child.pid) ?? []) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // It ended meanwhile, or is not ours to signal.
    }
  }
  child.kill("SIGKILL");
}
