/**
 * Runs shell commands for an agent: contained, bounded, in order, and honest about how they ended.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { PROCESS_GROUP, runCommand, shellEnvironment } from "@dsh/acp/bash";
 *
 * const result = await runCommand("sleep 60 & kill -9 $$", {
 *   cwd: "/",
 *   env: shellEnvironment({}),
 *   containment: PROCESS_GROUP,
 * });
 * assertEquals(result.exit, { type: "signaled", signal: "SIGKILL" });
 * assertEquals(result.endedLeftovers, true);
 * ```
 *
 * @module
 */
export { authorizeCommand } from "./authorize_command.ts";
export type { AuthorizeOptions, EscalationRequest } from "./authorize_command.ts";
export { BackgroundTasks } from "./background_tasks.ts";
export type { TaskOptions, TaskReading, TaskState, TaskSummary } from "./background_tasks.ts";
export { BashSession } from "./bash_session.ts";
export type { BashSessionOptions, Preparation } from "./bash_session.ts";
export { bashTool, presentBashCall, presentBashResult, registerBashTools } from "./bash_tool.ts";
export type { BashArgs, BashToolsOptions } from "./bash_tool.ts";
export { classifyCommand } from "./classify.ts";
export type { ClassifyOptions, CommandView } from "./classify.ts";
export { commandPrefix } from "./command_prefix.ts";
export { statusOfResult } from "./command_result.ts";
export type { CommandExit, CommandResult } from "./command_result.ts";
export { isInherited, shellEnvironment, withoutServices } from "./env.ts";
export { OutputCollector } from "./output_collector.ts";
export type { CollectedOutput, OutputLimits, OutputOptions } from "./output_collector.ts";
export type { OutputSink } from "./output_pump.ts";
export { runCommand } from "./run_command.ts";
export type { RunOptions } from "./run_command.ts";
export { bubblewrapArgs } from "./sandbox/bubblewrap.ts";
export type { BubblewrapOptions } from "./sandbox/bubblewrap.ts";
export { chooseContainment, describeMissingRunner } from "./sandbox/choose_containment.ts";
export type { ContainmentChoice, ContainmentOptions } from "./sandbox/choose_containment.ts";
export { PROCESS_GROUP } from "./sandbox/containment.ts";
export type {
  BubblewrapContainment,
  Containment,
  ProcessGroupContainment,
  SeatbeltContainment,
} from "./sandbox/containment.ts";
export { SandboxProbe } from "./sandbox/probe.ts";
export type { ProbeOptions, SandboxRunner } from "./sandbox/probe.ts";
export { seatbeltProfile } from "./sandbox/seatbelt.ts";
export type { SeatbeltOptions } from "./sandbox/seatbelt.ts";
export { serviceMasks } from "./sandbox/service_masks.ts";
export type { ServiceMasks } from "./sandbox/service_masks.ts";
export { loadShellParser } from "./shell_parser.ts";
export type { ShellParser, SimpleCommand, SimpleWord } from "./shell_parser.ts";
export { parseStatus, renderStatus } from "./status.ts";
export type { CommandStatus, ParsedStatus, ProcessEnd } from "./status.ts";
export type { SpillOptions } from "./_spill_file.ts";
export { Sweeper } from "./sweeper.ts";
export { taskKillTool, taskListTool, taskOutputTool } from "./task_tools.ts";
export type { TaskKillArgs, TaskListArgs, TaskOutputArgs } from "./task_tools.ts";
