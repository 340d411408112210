/** The file tools of one session. */
import { editTool } from "./edit.ts";
import { FileObservations } from "./file_observations.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { readTool } from "./read.ts";
import { Ripgrep } from "./_ripgrep.ts";
import type { Tool } from "./tool.ts";
import { writeTool } from "./write.ts";

/** Options for {@linkcode fileTools}. */
export interface FileToolsOptions {
  /** What the session has seen of files. @default {new FileObservations()} */
  readonly observations?: FileObservations;
  /**
   * The ripgrep program: a name that PATH resolves, or an absolute path, or false for none. Where it
   * cannot be run, which is found out at first use, searches go on without it, slower.
   *
   * @default {"rg"}
   */
  readonly ripgrep?: string | false | undefined;
}

/**
 * Makes `read`, `write`, `edit`, `glob` and `grep` for one session. They share what the session has
 * seen of files, so make them anew for each. Relative paths are taken from the call's `cwd`, and
 * writes obey the call's policy.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { fileTools, ToolRegistry } from "@dsh/acp/tools";
 *
 * await using tools = new ToolRegistry();
 * for (const tool of fileTools()) tools.register(tool);
 * const view = tools.presentCall("read", '{"file_path":"src/main.ts","offset":10,"limit":5}');
 * assertEquals(view.title, "Read src/main.ts (10 - 14)");
 * ```
 */
export function fileTools(options: FileToolsOptions = {}): Tool[] {
  const observations = options.observations ?? new FileObservations();
  const ripgrep = new Ripgrep(options.ripgrep ?? "rg");
  return [
    readTool(observations),
    writeTool(observations),
    editTool(observations),
    globTool(ripgrep),
    grepTool(ripgrep),
  ] as Tool[];
}
