import { z } from "zod";
import { errorResult, textResult, type Tool, type ToolResult } from "../tools/tool.ts";
import type { BackgroundTasks, TaskState } from "./background_tasks.ts";
import type { ProcessEnd } from "./status.ts";

/** Milliseconds. */
const DEFAULT_WAIT = 30_000;
const MAX_WAIT = 600_000;

const TASK_ID = z.string().describe("The id that bash gave, such as bash-1.");

const OUTPUT_PARAMETERS: z.ZodType<TaskOutputArgs> = z.object({
  task_id: TASK_ID,
  wait: z.boolean().optional().describe("Wait until the task has ended."),
  timeout_ms: z.number().positive().optional().describe(
    `How long to wait: ${DEFAULT_WAIT} unless given, at most ${MAX_WAIT}.`,
  ),
});
const KILL_PARAMETERS: z.ZodType<TaskKillArgs> = z.object({
  task_id: TASK_ID,
  reason: z.string().optional().describe("Why, for the user."),
});
const LIST_PARAMETERS: z.ZodType<TaskListArgs> = z.object({});

/** The arguments of `task_output`. */
export interface TaskOutputArgs {
  /** The id that bash gave. */
  readonly task_id: string;
  /** Whether to wait until the task has ended. @default {false} */
  readonly wait?: boolean | undefined;
  /** How long to wait, in milliseconds, at most 600,000. @default {30000} */
  readonly timeout_ms?: number | undefined;
}

/** The arguments of `task_kill`. */
export interface TaskKillArgs {
  /** The id that bash gave. */
  readonly task_id: string;
  /** Why, for the user. */
  readonly reason?: string | undefined;
}

/** The arguments of `task_list`: none. */
export type TaskListArgs = Readonly<Record<string, never>>;

/** Reads what a task printed since the last read. */
export function taskOutputTool(tasks: BackgroundTasks): Tool<TaskOutputArgs> {
  return {
    name: "task_output",
    description: "Returns what a background task printed since the last time, and how it is doing.",
    parameters: OUTPUT_PARAMETERS,
    concurrency: "parallel",
    execute: async ({ task_id: id, wait, timeout_ms: timeout }, { signal }) => {
      if (wait) await tasks.wait(id, Math.min(timeout ?? DEFAULT_WAIT, MAX_WAIT), signal);
      const reading = tasks.read(id);
      if (!reading) return unknownTask(id, tasks);
      const text = reading.text === "" ? "(no new output)" : reading.text;
      const separator = text.endsWith("\n") ? "" : "\n";
      return textResult(`${text}${separator}[status: ${describeState(reading.state)}]`);
    },
    presentCall: ({ task_id: id, wait }) => ({
      type: "generic",
      kind: "read",
      title: wait ? `Wait for ${id}` : `Read output of ${id}`,
    }),
  };
}

/** Lists the session's tasks. */
export function taskListTool(tasks: BackgroundTasks): Tool<TaskListArgs> {
  return {
    name: "task_list",
    description: "Lists this session's background tasks and how they are doing.",
    parameters: LIST_PARAMETERS,
    concurrency: "parallel",
    execute: () => {
      const lines = tasks.list().map(({ id, command, state }) =>
        `${id} [${describeState(state)}] ${firstLine(command)}`
      );
      return Promise.resolve(textResult(lines.join("\n") || "(no background tasks)"));
    },
    presentCall: () => ({ type: "generic", kind: "read", title: "List background tasks" }),
  };
}

/** Ends a task and everything it started. */
export function taskKillTool(tasks: BackgroundTasks): Tool<TaskKillArgs> {
  return {
    name: "task_kill",
    description: "Ends a background task and everything it started.",
    parameters: KILL_PARAMETERS,
    execute: async ({ task_id: id }) => {
      const before = tasks.list().find((task) => task.id === id)?.state;
      if (!before) return unknownTask(id, tasks);
      if (before.type !== "running") {
        return textResult(`${id} was over already: ${describeState(before)}`);
      }
      await tasks.kill(id);
      return textResult(`ended ${id}`);
    },
    presentCall: ({ task_id: id, reason }) => ({
      type: "generic",
      kind: "execute",
      title: reason ? `End ${id}: ${firstLine(reason)}` : `End ${id}`,
    }),
  };
}

function unknownTask(id: string, tasks: BackgroundTasks): ToolResult {
  const known = tasks.list().map((task) => task.id).join(", ");
  return errorResult(`there is no task "${id}" in this session. Its tasks: ${known || "none"}`);
}

function describeState(state: TaskState): string {
  switch (state.type) {
    case "running":
      return "running";
    case "failed":
      return `not started: ${state.message}`;
    case "ended": {
      const { status } = state;
      return status.type === "cancelled"
        ? "ended by task_kill"
        : describeEnd(status.type === "timed_out" ? status.end : status);
    }
    default: {
      const never: never = state;
      return never;
    }
  }
}

function describeEnd(end: ProcessEnd): string {
  if (end.type === "signaled") return `killed by ${end.signal}`;
  return end.code === 0 ? "completed" : `failed with exit code ${end.code}`;
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line === text ? line : `${line} ...`;
}
