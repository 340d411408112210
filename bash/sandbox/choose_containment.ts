import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import { existing } from "./_protected_paths.ts";
import type { ServiceMasks } from "./service_masks.ts";
import { bubblewrapArgs } from "./bubblewrap.ts";
import { type Containment, PROCESS_GROUP } from "./containment.ts";
import type { SandboxRunner } from "./probe.ts";
import { seatbeltProfile } from "./seatbelt.ts";

/** Options for {@linkcode chooseContainment}. */
export interface ContainmentOptions {
  /** What the command may write and reach. */
  readonly policy: SandboxPolicy;
  /** The sandbox of this machine. */
  readonly runner: SandboxRunner;
  /** Where the command runs: absolute. */
  readonly cwd: string;
  /** The session's folder for temporary files. */
  readonly tmpDir?: string;
  /** The services that commands must not reach. @default all are reached */
  readonly services?: ServiceMasks;
  /** Folders that commands may read wherever they lie. */
  readonly readable?: readonly string[];
}

/** A containment, or why the command must not run. */
export type ContainmentChoice =
  | { readonly type: "contained"; readonly containment: Containment }
  | { readonly type: "refused"; readonly message: string };

/** Picks the containment for one command. Fails closed: no runner, no command. */
export function chooseContainment(options: ContainmentOptions): ContainmentChoice {
  const { policy, runner } = options;
  // Approved as it is: the user was told that nothing fences it in.
  if (policy.enforcement === "none") return contained(PROCESS_GROUP);
  switch (runner.type) {
    case "bubblewrap": {
      const args = bubblewrapArgs({ ...options, root: runner.root });
      return contained({ type: "bubblewrap", program: runner.program, args });
    }
    case "seatbelt":
      if (policy.mode === "danger-full-access") return contained(PROCESS_GROUP);
      return contained({
        type: "seatbelt",
        program: runner.program,
        args: ["-p", seatbeltProfile(withRealPaths(options))],
      });
    case "none":
      if (policy.mode === "danger-full-access") return contained(PROCESS_GROUP);
      return { type: "refused", message: describeMissingRunner(runner) };
    default: {
      const never: never = runner;
      return never;
    }
  }
}

/** Says what is missing and what to do. */
export function describeMissingRunner(runner: SandboxRunner & { type: "none" }): string {
  return `No sandbox is available: ${runner.reason}. ${runner.advice}`;
}

function contained(containment: Containment): ContainmentChoice {
  return { type: "contained", containment };
}

function withRealPaths(options: ContainmentOptions): ContainmentOptions {
  const { policy, tmpDir } = options;
  return {
    ...options,
    policy: {
      ...policy,
      writableRoots: policy.writableRoots.map((path) => existing(path) ?? path),
      ...policy.maskedPaths &&
        { maskedPaths: policy.maskedPaths.map((path) => existing(path) ?? path) },
      protectedPaths: policy.protectedPaths.map((path) => existing(path) ?? path),
    },
    ...(tmpDir !== undefined && { tmpDir: existing(tmpDir) ?? tmpDir }),
  };
}
