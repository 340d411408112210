/** The tool with which the model keeps a plan that the user sees. */
import { z } from "zod";
import type { TodoEntry } from "./plan.ts";
import { textResult, type Tool } from "./tool.ts";

/** The arguments of the tool. */
export interface TodoWriteArgs {
  /** The whole plan, in order; empty where there is none any more. */
  readonly todos: readonly TodoEntry[];
}

const MAX_ENTRIES = 100;
const MAX_CONTENT = 500;

const entry = z.object({
  content: z.string().max(MAX_CONTENT)
    .refine((value) => value.trim() !== "", { message: "must not be blank" })
    .describe("What is to be done, in one line"),
  status: z.enum(["pending", "in_progress", "completed"])
    .describe("in_progress for what you are at, one at a time"),
  priority: z.enum(["high", "medium", "low"]).default("medium").describe("How much it matters"),
});

const parameters = z.object({
  todos: z.array(entry).max(MAX_ENTRIES)
    .describe("The whole plan each time, in order: what is left out is gone"),
});

const description =
  "Writes the plan that the user sees, whole each time. Use it for work of three steps or more: " +
  "write the plan before you begin, mark a step in_progress when you start it and completed as " +
  "soon as it is done and checked, and add what you find on the way. Leave it out for small tasks. " +
  "An empty list takes the plan away.";

/**
 * Makes the tool. Its result carries the plan ({@linkcode ToolResult.plan}); the session logs it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { todoWriteTool, ToolRegistry } from "@dsh/acp/tools";
 *
 * await using tools = new ToolRegistry();
 * tools.register(todoWriteTool());
 * const args = '{"todos":[{"content":"Read the parser","status":"completed"}]}';
 * assertEquals(tools.presentCall("todo_write", args).title, "Plan: 1 of 1 done");
 * ```
 */
export function todoWriteTool(): Tool<TodoWriteArgs> {
  return {
    name: "todo_write",
    description,
    parameters,
    // Two plans of one answer: the later one holds.
    concurrency: "exclusive",
    execute: ({ todos }) =>
      Promise.resolve({
        ...textResult(todos.length === 0 ? "The plan is empty." : "The plan is noted."),
        plan: todos,
      }),
    // The plan has a place of its own in the client: the card only says that it changed.
    presentCall: ({ todos }) => ({ type: "generic", kind: "think", title: title(todos) }),
    presentResult: (_, { isError }) => ({ type: "generic", ...(!isError && { content: [] }) }),
  };
}

function title(todos: readonly TodoEntry[]): string {
  if (todos.length === 0) return "Plan: empty";
  const done = todos.filter(({ status }) => status === "completed").length;
  return `Plan: ${done} of ${todos.length} done`;
}
