import { z } from "zod";
import type { CallView, ResultView, TerminalExit } from "../tools/presentation.ts";
import {
  errorResult,
  textResult,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "../tools/tool.ts";
import type { ToolRegistry } from "../tools/tool_registry.ts";
import { withNotes } from "./_command_text.ts";
import { authorizeCommand } from "./authorize_command.ts";
import { BashSession, type BashSessionOptions } from "./bash_session.ts";
import { classifyCommand } from "./classify.ts";
import { statusOfResult } from "./command_result.ts";
import { runCommand, type RunOptions } from "./run_command.ts";
import type { ShellParser } from "./shell_parser.ts";
import { type CommandStatus, parseStatus, type ProcessEnd, renderStatus } from "./status.ts";
import { taskKillTool, taskListTool, taskOutputTool } from "./task_tools.ts";

/** Options for {@linkcode registerBashTools}. */
export interface BashToolsOptions extends BashSessionOptions {
  /** From {@linkcode loadShellParser}: presenting a call is synchronous. */
  readonly parser: ShellParser;
}

/** Milliseconds. */
const DEFAULT_TIMEOUT = 120_000;
const MAX_TIMEOUT = 600_000;

/** The arguments of the bash tool. */
export interface BashArgs {
  /** The command, as bash runs it with `-c`. */
  readonly command: string;
  /** What it is for, in a few words. */
  readonly description?: string | undefined;
  /** Milliseconds, at most 600,000. @default {120000} */
  readonly timeoutMs?: number | undefined;
  /** Where to run it; relative to the session's folder, which is the default. */
  readonly workdir?: string | undefined;
  /** Whether to return at once. @default {false} */
  readonly run_in_background?: boolean | undefined;
  /** A wider mode for this one call. */
  readonly sandbox_permissions?: "workspace-write" | "danger-full-access" | undefined;
  /** Why the wider mode is needed. */
  readonly justification?: string | undefined;
}

const PARAMETERS: z.ZodType<BashArgs> = z.object({
  command: z.string().min(1).describe("The command, as bash runs it with -c."),
  description: z.string().optional().describe("What the command is for, in five to ten words."),
  timeoutMs: z.number().positive().optional().describe(
    `Milliseconds after which it is stopped: ${DEFAULT_TIMEOUT} unless given, at most ${MAX_TIMEOUT}.`,
  ),
  workdir: z.string().min(1).optional().describe(
    "Where to run it, instead of the session's folder. Use this rather than cd.",
  ),
  run_in_background: z.boolean().optional().describe(
    "Start it and return at once, for servers and watchers. Read it with task_output, end it with task_kill.",
  ),
  sandbox_permissions: z.enum(["workspace-write", "danger-full-access"]).optional().describe(
    "Only where the sandbox stands in the way: asks the user to run this one command under a wider mode.",
  ),
  justification: z.string().optional().describe(
    "With sandbox_permissions: why the command needs it, in one sentence for the user.",
  ),
});

const DESCRIPTION = `Runs a bash command in a fresh shell (bash -c) and returns its output.

Nothing carries over between calls but files: no variables, no cd. There is no stdin and no terminal. stdout and stderr come back as one text in order; a failure ends in a line such as [exit code: 1]. Long output keeps its start and its end, and names a file with all of it. Processes that the command leaves running are ended with it, so use run_in_background for servers. Commands run in a sandbox according to the session's mode; $TMPDIR is always writable and lasts as long as the session.`;

/**
 * Adds `bash`, `task_output`, `task_list` and `task_kill` to a session's tools. Disposing the registry
 * ends the session's tasks and removes its private files.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ToolRegistry } from "@dsh/acp/tools";
 * import { loadShellParser, registerBashTools, SandboxProbe } from "@dsh/acp/bash";
 *
 * await using tools = new ToolRegistry();
 * registerBashTools(tools, {
 *   env: {},
 *   probe: new SandboxProbe({ os: "linux" }),
 *   tempRoot: "/tmp",
 *   parser: await loadShellParser(),
 * });
 * assertEquals(tools.presentCall("bash", '{"command":"make test"}'), {
 *   type: "terminal",
 *   title: "make test",
 * });
 * ```
 */
export function registerBashTools(registry: ToolRegistry, options: BashToolsOptions): BashSession {
  const session = new BashSession(options);
  registry.register(bashTool(session, options.parser));
  registry.register(taskOutputTool(session.tasks));
  registry.register(taskListTool(session.tasks));
  registry.register(taskKillTool(session.tasks));
  registry.defer(() => session[Symbol.asyncDispose]());
  return session;
}

/** The bash tool of one session. */
export function bashTool(session: BashSession, parser: ShellParser): Tool<BashArgs> {
  return {
    name: "bash",
    description: DESCRIPTION,
    parameters: PARAMETERS,
    authorize: async (args, context) =>
      authorizeCommand(args, { context, parser, runner: await session.runner() }),
    execute: (args, context) => execute(session, parser, args, context),
    presentCall: (args) => presentBashCall(args, parser),
    presentResult: presentBashResult,
  };
}

async function execute(
  session: BashSession,
  parser: ShellParser,
  args: BashArgs,
  context: ToolContext,
): Promise<ToolResult> {
  const prepared = await session.prepare(context, args.workdir);
  if (prepared.type === "refused") return errorResult(prepared.message);
  const { options } = prepared;
  if (args.run_in_background) return await startTask(session, args.command, options);
  const shown = presentBashCall(args, parser).type === "terminal";
  const result = await runCommand(args.command, {
    ...options,
    timeoutMs: Math.min(args.timeoutMs ?? DEFAULT_TIMEOUT, MAX_TIMEOUT),
    signal: context.signal,
    ...(shown && { onOutput: (text: string) => context.output(text) }),
  });
  session.sealNewPaths();
  const status = statusOfResult(result);
  if (!status) {
    const why = result.exit.type === "spawn_failed" ? result.exit.message : "";
    return errorResult(`the command was not started: ${why}`);
  }
  const text = renderStatus(withNotes(result, options.containment, context.policy), status);
  const { display, fullOutput } = result;
  const same = parseStatus(text).body === display;
  return textResult(text, {
    containment: options.containment.type,
    ...(!same && { display }),
    ...(fullOutput !== undefined && { fullOutput }),
  });
}

/** What a task that cannot start needs to say so, in milliseconds. */
const START = 50;

async function startTask(
  session: BashSession,
  command: string,
  options: RunOptions,
): Promise<ToolResult> {
  const id = session.tasks.start(command, options);
  await session.tasks.wait(id, START);
  const state = session.tasks.list().find((task) => task.id === id)?.state;
  if (state?.type === "failed") return errorResult(`the task was not started: ${state.message}`);
  return textResult(`started background task ${id}`, { task: id });
}

/** How a call looks. Pure. */
export function presentBashCall(args: BashArgs, parser: ShellParser): CallView {
  const { command, description, workdir } = args;
  if (!args.run_in_background) {
    const view = classifyCommand(command, { parser, ...(workdir !== undefined && { workdir }) });
    if (view.type === "generic") return view;
  }
  return {
    type: "terminal",
    title: command,
    ...(description && { description }),
    ...(workdir !== undefined && { cwd: workdir }),
  };
}

/** How a result looks. Pure: everything it needs is in the logged result. */
export function presentBashResult(args: BashArgs, result: ToolResult): ResultView {
  const [content] = result.content;
  if (result.isError || args.run_in_background || content?.type !== "text") {
    return { type: "generic" };
  }
  const { body, status } = parseStatus(content.text);
  const display = result.meta?.["display"];
  const output = typeof display === "string" ? display : body;
  return { type: "terminal", output: output + stopNote(output, status), exit: exitOf(status) };
}

/** A signal alone does not say that the time was up. */
function stopNote(output: string, status: CommandStatus): string {
  if (status.type !== "timed_out") return "";
  const start = output === "" || output.endsWith("\n") ? "" : "\n";
  return `${start}[timed out after ${status.afterMs} ms]\n`;
}

/** A command that was stopped has failed, however cleanly it took the signal. */
function exitOf(status: CommandStatus): TerminalExit {
  switch (status.type) {
    case "timed_out":
    case "cancelled":
      return isClean(status.end) ? { signal: "SIGTERM" } : exitOf(status.end);
    case "exited":
      return { exitCode: status.code };
    case "signaled":
      return { signal: status.signal };
    default: {
      const never: never = status;
      return never;
    }
  }
}

function isClean(end: ProcessEnd): boolean {
  return end.type === "exited" && end.code === 0;
}
