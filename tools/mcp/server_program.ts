/** Which program a server's command is. */
import { resolve } from "node:path";
import { findProgram } from "../find_program.ts";

/**
 * A path is the user's own word: a relative one counts from the session's folder. A bare name is
 * looked up on `PATH`, but not in the folders of `avoid`, where a fenced-in command could have put
 * a program of that name.
 *
 * @returns Undefined where there is none.
 */
export function serverProgram(
  command: string,
  { path, cwd, avoid }: {
    readonly path: string;
    readonly cwd: string;
    readonly avoid: readonly string[];
  },
): string | undefined {
  if (/[/\\]/.test(command)) return resolve(cwd, command);
  // Windows looks programs up by other rules, and there is no sandbox there.
  return Deno.build.os === "windows" ? command : findProgram(command, path, avoid);
}
