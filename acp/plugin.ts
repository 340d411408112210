/** What a plugin is: a module of the user's own that adds tools, and answers to requests. */
import type { z } from "zod";
import type { ApprovalAnswerer } from "../session/approval.ts";
import type { errorResult, textResult, Tool } from "../tools/tool.ts";

/**
 * What a plugin adds to every session of the process. It runs in the agent's process, with its
 * permissions: a tool that writes or runs something asks for it with `authorize`, and obeys
 * `context.policy` by itself.
 */
export interface Plugin {
  /** Their names must be free: a plugin with one that is taken is not used. @default none */
  readonly tools?: readonly Tool[];
  /**
   * Answers requests for permission before the user is asked; `delegate` leaves one to the user,
   * and so does an exception. `request.scope?.key` says what is asked for: `bash:git status`.
   *
   * @default every request is left to the user
   */
  readonly approve?: ApprovalAnswerer;
}

/** What a plugin need not import. */
export interface PluginKit {
  /** The agent's own zod, for the parameters of tools. */
  readonly z: typeof z;
  /** Makes a result that the model reads as plain text. */
  readonly textResult: typeof textResult;
  /** Makes an error result. */
  readonly errorResult: typeof errorResult;
  /** Returns the tool as it is. It is there for the types: arguments get theirs from `parameters`. */
  tool<Args>(tool: Tool<Args>): Tool;
}

/**
 * The default export, or the export `plugin`, of a plugin's module.
 *
 * @example
 * ```ts
 * import { z } from "zod";
 * import { errorResult, type PluginModule, textResult, type Tool } from "@dsh/acp";
 *
 * const module: PluginModule = ({ z, tool, textResult }) => ({
 *   tools: [tool({
 *     name: "shout",
 *     description: "Repeats a text in capitals.",
 *     parameters: z.object({ text: z.string() }),
 *     execute: ({ text }) => Promise.resolve(textResult(text.toUpperCase())),
 *   })],
 * });
 *
 * // What the agent does with it:
 * if (typeof module !== "function") throw new TypeError("this one is a function");
 * const plugin = await module({ z, textResult, errorResult, tool: (one) => one as Tool });
 * if (plugin.tools?.[0]?.name !== "shout") throw new Error("it has one tool");
 * ```
 */
export type PluginModule = Plugin | ((kit: PluginKit) => Plugin | Promise<Plugin>);
