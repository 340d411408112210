/** Says on stderr what fences commands in. */
import type { Grants } from "./_grants.ts";

/** What the probe of the sandbox found. */
export type FoundRunner =
  | { readonly type: "bubblewrap" | "seatbelt" }
  | { readonly type: "none"; readonly reason: string; readonly advice: string };

/** Whether commands can be run at all: in a sandbox that works, or by bash itself. */
export function canRunCommands(
  { runner, bareBash }: Pick<Grants, "runner" | "bareBash">,
  found: FoundRunner,
): boolean {
  return bareBash || (runner && found.type !== "none");
}

/** One line for the person who started the program. */
export function containmentNotice(grants: Grants, found: FoundRunner): string {
  if (!grants.runner && !grants.bareBash) {
    return "commands: none, as Deno may start neither the sandbox nor bash. Install bubblewrap " +
      "and start with --allow-run=bwrap";
  }
  switch (found.type) {
    case "bubblewrap":
      return "commands: sandboxed by bubblewrap";
    case "seatbelt":
      return "commands: sandboxed by Seatbelt";
    case "none": {
      const rule = grants.bareBash
        ? "each is asked about first (not in full access), and runs in a process group only"
        : "none";
      return `commands: ${rule}, as no sandbox works: ${found.reason}. ${found.advice}`;
    }
  }
}
