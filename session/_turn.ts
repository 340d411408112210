/** One turn: the user's message, then model requests and tool calls until there is nothing to do. */
import { compact, isNearlyFull } from "./_compaction.ts";
import { runModelStep } from "./_model_step.ts";
import { stepEnd } from "./_step_usage.ts";
import { runToolCalls } from "./_tool_calls.ts";
import type { TurnContext } from "./_turn_context.ts";
import type { EventBody, PromptContent, TurnEnd } from "./events.ts";
import { recoveryEvents, unrecordedResults } from "./recovery.ts";
import { promptTitle } from "./title.ts";

/** What a turn begins with. */
export interface TurnInput {
  readonly content: readonly PromptContent[];
  readonly notices: readonly string[];
}

/**
 * Runs a turn between its `turn/start` and `turn/end`, both logged here. Resolves with the
 * logged end; rejects only when the log itself fails.
 */
export async function runTurn(context: TurnContext, input: TurnInput): Promise<TurnEnd> {
  const turn = context.fold.turns + 1;
  const command = userCommand(input.content);
  const trigger = command === undefined ? "prompt" : "command";
  const pending = context.config.pending();
  if (context.fold.title === undefined && command === undefined) {
    context.namer.begin(input.content);
  }
  await context.record(
    // A turn before this one may be open still: its end could not be recorded.
    ...recoveryEvents(context.fold),
    { type: "turn/start", data: { turn, trigger } },
    // Durable before the model is asked, and before anything of the answer is seen.
    { type: "user/message", data: { content: input.content } },
    ...firstTitle(context, input.content),
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
    reason = command === undefined
      ? await converse(context)
      : await runUserCommand(context, command, turn);
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
  const words = content.map((part) => part.type === "text" ? part.text : quotedTarget(part.uri));
  return words.join("").slice(1).trim() || undefined;
}

/** The path of a file URI (RFC 8089), or any other URI as it is, in single quotes for the shell. */
function quotedTarget(uri: string): string {
  const path = /^file:\/\/(?:localhost)?(\/[^]*)$/.exec(uri)?.[1];
  return `'${(path === undefined ? uri : decodePath(path)).replaceAll("'", `'\\''`)}'`;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not percent-encoded: clients send plain paths as well.
    return path;
  }
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
