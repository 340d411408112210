import { TaskOutput } from "./_task_output.ts";
import type { CommandResult } from "./command_result.ts";
import { statusOfResult } from "./command_result.ts";
import { runCommand, type RunOptions } from "./run_command.ts";
import type { CommandStatus } from "./status.ts";

/** Options for {@linkcode BackgroundTasks.start}: those of a command that nothing but a kill ends. */
export type TaskOptions = Omit<RunOptions, "timeoutMs" | "signal" | "onOutput" | "sink">;

/** How a task is doing. */
export type TaskState =
  | { readonly type: "running" }
  | { readonly type: "ended"; readonly status: CommandStatus }
  | { readonly type: "failed"; readonly message: string };

/** One line of {@linkcode BackgroundTasks.list}. */
export interface TaskSummary {
  /** Unique within the session. */
  readonly id: string;
  /** The command that was started. */
  readonly command: string;
  /** How it is doing. */
  readonly state: TaskState;
}

/** What one read of a task gives. */
export interface TaskReading {
  /** What it printed since the last read. */
  readonly text: string;
  /** How it is doing. */
  readonly state: TaskState;
}

interface Task {
  readonly command: string;
  readonly output: TaskOutput;
  readonly stop: AbortController;
  readonly done: Promise<void>;
  state: TaskState;
}

/**
 * The background tasks of one session. Another session has another instance and cannot name what
 * is in this one; disposing it ends all its tasks and waits for that.
 */
export class BackgroundTasks implements AsyncDisposable {
  readonly #tasks = new Map<string, Task>();
  #started = 0;
  #disposed = false;

  /** Starts a command and returns its id, without waiting for it. */
  start(command: string, options: TaskOptions): string {
    if (this.#disposed) {
      throw new TypeError("Cannot start a background task as the session has ended");
    }
    const id = `bash-${++this.#started}`;
    const output = new TaskOutput(options.spill);
    const stop = new AbortController();
    const ended = runCommand(command, { ...options, sink: output, signal: stop.signal });
    const task: Task = {
      command,
      output,
      stop,
      state: { type: "running" },
      done: ended.then((result) => {
        task.state = stateOf(result);
      }),
    };
    this.#tasks.set(id, task);
    return id;
  }

  /** All tasks of the session, in the order they were started. */
  list(): TaskSummary[] {
    return [...this.#tasks].map(([id, { command, state }]) => ({ id, command, state }));
  }

  /** What the task printed since the last read; undefined for an id the session does not have. */
  read(id: string): TaskReading | undefined {
    const task = this.#tasks.get(id);
    return task && { text: task.output.read(), state: task.state };
  }

  /** Waits until the task has ended, for `deadlineMs`, or until `signal` aborts. Tells whether it has ended. */
  async wait(id: string, deadlineMs: number, signal?: AbortSignal): Promise<boolean> {
    const task = this.#tasks.get(id);
    if (!task || task.state.type !== "running") return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, deadlineMs);
    const onAbort = () => resolve();
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([task.done, promise]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
    return this.#tasks.get(id)?.state.type !== "running";
  }

  /** Ends the task and its tree, and waits for that; false for an id the session does not have. */
  async kill(id: string): Promise<boolean> {
    const task = this.#tasks.get(id);
    if (!task) return false;
    task.stop.abort();
    await task.done;
    return true;
  }

  /** Ends all tasks, and refuses new ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await Promise.all([...this.#tasks.keys()].map((id) => this.kill(id)));
  }
}

function stateOf(result: CommandResult): TaskState {
  const status = statusOfResult(result);
  if (status) return { type: "ended", status };
  const message = result.exit.type === "spawn_failed" ? result.exit.message : "unknown";
  return { type: "failed", message };
}
