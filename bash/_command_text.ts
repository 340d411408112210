import type { SandboxPolicy } from "../tools/sandbox_policy.ts";
import type { CommandResult } from "./command_result.ts";
import type { Containment } from "./sandbox/containment.ts";

/** Where a denial by a read-only mount or by Seatbelt shows. */
const DENIED = /read-only file system|operation not permitted/i;

/** The output with what the model should know about how it came about. */
export function withNotes(
  result: CommandResult,
  containment: Containment,
  policy: SandboxPolicy,
): string {
  const notes = notesOn(result, containment, policy);
  if (notes.length === 0) return result.text;
  const start = result.text === "" || result.text.endsWith("\n") ? result.text : `${result.text}\n`;
  return start + notes.join("\n");
}

function notesOn(
  result: CommandResult,
  containment: Containment,
  policy: SandboxPolicy,
): string[] {
  const notes: string[] = [];
  if (result.endedLeftovers) {
    notes.push("(processes that the command left running were ended; run_in_background keeps one)");
  }
  const fenced = containment.type !== "process-group" && policy.mode !== "danger-full-access";
  const failed = result.exit.type !== "exited" || result.exit.code !== 0;
  if (fenced && failed && DENIED.test(result.text.slice(-8192))) {
    notes.push(
      `(sandbox: ${policy.mode}; what it forbids can be asked for with sandbox_permissions)`,
    );
  }
  if (containment.type !== "bubblewrap") {
    const fence = fenced ? "sandbox-exec" : "no sandbox";
    notes.push(`(containment: process group, ${fence})`);
  }
  return notes;
}
