/** One turn: the user's message, then model requests and tool calls until there is nothing to do. */
import { compact, isNearlyFull } from "./_compaction.ts";
import { linkTarget } from "./_link_target.ts";
import { runModelStep } from "./_model_step.ts";
import { stepEnd } from "./_step_usage.ts";
import { runToolCalls } from "./_tool_calls.ts";
import type { TurnContext } from "./_turn_context.ts";
import { runBuiltin } from "./commands/builtin_commands.ts";
import type { CommandReading } from "./commands/session_commands.ts";
import { readSlashPrompt, type SlashPrompt } from "./commands/slash_prompt.ts";
import type { EventBody, PromptContent, TurnEnd } from "./events.ts";
import { recoveryEvents, unrecordedResults } from "./recovery.ts";
import { promptTitle } from "./title.ts";

/** What a turn begins with. */
export interface TurnInput {
  readonly content: readonly PromptContent[];
  readonly notices: readonly string[];
  /** What `/name` stands for. */
  readonly commands: Pick<CommandReading, "list" | "templates">;
}

/** What a prompt asks for. */
type Work =
  | { readonly type: "shell"; readonly command: string }
  | { readonly type: "ask" }
  | SlashPrompt;

/**
 * Runs a turn between its `turn/start` and `turn/end`, both logged here. Resolves with the
 * logged end; rejects only when the log itself fails.
 */
export async function runTurn(context: TurnContext, input: TurnInput): Promise<TurnEnd> {
  const turn = context.fold.turns + 1;
  const work = readWork(input);
  const trigger = work.type === "ask" || work.type === "template" ? "prompt" : "command";
  const pending = context.config.pending();
  if (context.fold.title === undefined && trigger === "prompt") {
    context.namer.begin(work.type === "template" ? work.expanded : input.content);
  }
  await context.record(
    // A turn before this one may be open still: its end could not be recorded.
    ...recoveryEvents(context.fold),
    { type: "turn/start", data: { turn, trigger } },
    // Durable before the model is asked, and before anything of the answer is seen.
    { type: "user/message", data: { content: input.content, ...expansion(work) } },
    ...work.type === "builtin" ? [] : firstTitle(context, input.content),
    ...context.namer.take(),
    ...input.notices
      .filter((text) => !context.fold.notices.has(text))
      .map((text) => ({ type: "session/notice", data: { text } }) as const),
    ...pending.events,
  );
  context.config.anchored(pending);
  await anchorChoices(context);
  let reason: TurnEnd;
  try {
    reason = await perform(context, work, input, turn);
  } catch (error) {
    reason = { type: "error", code: "internal", message: messageOf(error) };
  }
  if (context.signal.aborted) reason = abortedEnd(context.signal);
  const step = context.fold.openTurn?.openStep;
  await context.record(
    ...unrecordedResults(context.fold),
    ...step === undefined ? [] : [{ type: "step/end", data: { step } } as const],
    { type: "turn/end", data: { turn, reason } },
  );
  return reason;
}

function readWork({ content, commands }: TurnInput): Work {
  const command = userCommand(content);
  if (command !== undefined) return { type: "shell", command };
  return readSlashPrompt(content, commands.templates) ?? { type: "ask" };
}

/** What the model is told where that is not what the user typed. */
function expansion(work: Work): { readonly expanded?: readonly PromptContent[] } {
  switch (work.type) {
    case "shell":
    case "ask":
      return {};
    case "template":
      return { expanded: work.expanded };
    case "builtin":
    case "too_long":
      return { expanded: [] };
  }
}

async function perform(
  context: TurnContext,
  work: Work,
  { commands }: TurnInput,
  turn: number,
): Promise<TurnEnd> {
  switch (work.type) {
    case "shell":
      return await runUserCommand(context, work.command, turn);
    case "ask":
    case "template":
      return await converse(context);
    case "builtin": {
      const text = await runBuiltin(context, work, commands.list);
      if (text !== undefined) await context.record({ type: "session/notice", data: { text } });
      return { type: "completed" };
    }
    case "too_long":
      return { type: "error", code: "invalid_request", message: work.message };
  }
}

/** A session is called after what it was first asked. */
function firstTitle(
  { fold }: TurnContext,
  content: readonly PromptContent[],
): readonly EventBody[] {
  const title = fold.title === undefined ? promptTitle(content) : undefined;
  return title === undefined ? [] : [{ type: "session/title", data: { title } }];
}

/** Logs what the user chose while the turn's start was on its way to the log. */
async function anchorChoices({ config, record }: TurnContext): Promise<void> {
  for (let late = config.pending(); late.events.length > 0; late = config.pending()) {
    await record(...late.events);
    config.anchored(late);
  }
}

/** The reason an abort carries tells a cancel by the client from the end of the session. */
export const DISPOSED = "disposed";

function abortedEnd(signal: AbortSignal): TurnEnd {
  return signal.reason === DISPOSED ? { type: "disposed" } : { type: "aborted" };
}

async function converse(context: TurnContext): Promise<TurnEnd> {
  const system = await context.system();
  if (system.notice !== undefined) await notify(context, [system.notice]);
  let mayCompact = true;
  for (let step = 1; step <= context.limits.maxSteps; step++) {
    const resolved = await context.models.resolve(context.config.model);
    if (resolved.type === "unavailable") {
      return { type: "error", code: resolved.code, message: resolved.message };
    }
    await notify(context, await context.tools.settle(context.signal));
    if (context.signal.aborted) return abortedEnd(context.signal);
    if (mayCompact && isNearlyFull(context, resolved.model)) {
      const outcome = await compact(context, resolved.model, system.text, "limit");
      mayCompact = outcome.type === "completed";
      if (context.signal.aborted) return abortedEnd(context.signal);
    }
    await context.record({ type: "step/start", data: { step } });
    const result = await runModelStep(context, resolved.model, system.text);
    if (result.type === "tools") await runToolCalls(context, result.calls);
    const data = stepEnd(context.fold, step, result.usage, resolved.model.info);
    await context.record({ type: "step/end", data }, ...context.namer.take());
    if (result.type === "end") {
      const { reason } = result;
      const overflow = reason.type === "error" && reason.code === "context_window";
      if (!overflow || !mayCompact) return reason;
      // Once: what does not fit after that never will.
      mayCompact = false;
      const outcome = await compact(context, resolved.model, system.text, "overflow");
      if (outcome.type !== "completed") return reason;
    }
    if (context.signal.aborted) return abortedEnd(context.signal);
  }
  return { type: "max_steps" };
}

/** Logs what the user should know and has not been told in this session. */
async function notify({ fold, record }: TurnContext, notices: readonly string[]): Promise<void> {
  for (const text of notices) {
    if (!fold.notices.has(text)) await record({ type: "session/notice", data: { text } });
  }
}

/**
 * A prompt that starts with `!` is a command of the user's own. Its text is code; what a link names
 * is data, so it becomes one quoted word.
 */
function userCommand(content: readonly PromptContent[]): string | undefined {
  const [first] = content;
  if (first?.type !== "text" || !first.text.startsWith("!")) return undefined;
  const words = content.map((part) =>
    part.type === "text" ? part.text : part.uri === undefined ? "" : quoted(linkTarget(part.uri))
  );
  return words.join("").slice(1).trim() || undefined;
}

/** One word for the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function runUserCommand(
  context: TurnContext,
  command: string,
  turn: number,
): Promise<TurnEnd> {
  if (!context.tools.has("bash")) {
    const message = "Commands cannot be run here: this agent was started without a bash tool";
    return { type: "error", code: "invalid_request", message };
  }
  await runToolCalls(context, [{
    callId: `user-command-${turn}`,
    name: "bash",
    arguments: JSON.stringify({ command }),
    approved: true,
  }]);
  return { type: "completed" };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
