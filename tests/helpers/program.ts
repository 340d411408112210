import { fileURLToPath } from "node:url";

/** The program under test, as its users start it. `mod.ts` of this checkout unless told otherwise. */
export function programCommand(entry = "mod.ts"): readonly string[] {
  return [
    Deno.execPath(),
    "run",
    "-A",
    fileURLToPath(new URL(`../../${entry}`, import.meta.url)),
  ];
}
