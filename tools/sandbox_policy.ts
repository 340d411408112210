/** How far a command or a file tool may reach. Each mode is strictly wider than the one before. */
export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";

/** All modes, narrowest first. */
export const SANDBOX_MODES: readonly SandboxMode[] = [
  "read-only",
  "workspace-write",
  "danger-full-access",
];

/** Tells whether `mode` allows something that `than` does not. */
export function isWiderMode(mode: SandboxMode, than: SandboxMode): boolean {
  return SANDBOX_MODES.indexOf(mode) > SANDBOX_MODES.indexOf(than);
}

/**
 * What one call may write and reach. It is decided anew for each call, so that a switch of mode
 * takes effect with the next one. Full access is not restricted by any of it.
 */
export interface SandboxPolicy {
  /** How far the call may reach. */
  readonly mode: SandboxMode;
  /** Absolute folders that are writable under `workspace-write`. */
  readonly writableRoots: readonly string[];
  /** Absolute paths that stay read-only although a writable root contains them. */
  readonly protectedPaths: readonly string[];
  /** Absolute paths that neither commands nor file tools read. @default none */
  readonly maskedPaths?: readonly string[];
  /** Whether this process may write to a path at all, whoever agrees. @default it may */
  readonly canWrite?: (path: string) => boolean;
  /** Whether commands reach the network. */
  readonly network: "on" | "off";
  /**
   * How the mode is enforced on commands: by the sandbox runner, or not at all (only after the
   * user approved that very command).
   */
  readonly enforcement: "sandbox" | "none";
}
