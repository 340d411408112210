/** The permission presets. */
import type { SandboxMode } from "../tools/sandbox_policy.ts";

/** A named bundle of the two permission knobs. */
export interface PermissionPreset {
  /** The value of the option. */
  readonly id: string;
  /** For a person. */
  readonly name: string;
  /** One sentence for a person. */
  readonly description: string;
  /** How far commands and file tools reach. */
  readonly sandboxMode: SandboxMode;
  /** `never`: what would have to be asked is refused. */
  readonly approvalPolicy: "ask" | "never";
}

/** The presets, in the order they are offered. */
export const PERMISSION_PRESETS: readonly PermissionPreset[] = [
  {
    id: "workspace-write",
    name: "Workspace write",
    description: "Commands and edits may write in the workspace; anything wider is asked first.",
    sandboxMode: "workspace-write",
    approvalPolicy: "ask",
  },
  {
    id: "danger-full-access",
    name: "Full access",
    description: "Commands and edits run without a sandbox and without questions.",
    sandboxMode: "danger-full-access",
    approvalPolicy: "never",
  },
];
