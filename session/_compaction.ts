/** Makes room in the model's context: a summary takes the place of the conversation. */
import type { TurnContext } from "./_turn_context.ts";
import type { EventData } from "./events.ts";
import type { Model, ModelFailure, ModelMessage } from "./model/model.ts";

/** Why room is made. */
export type CompactionTrigger = EventData["compact/start"]["trigger"];

/** How it went; the conversation is as it was unless `completed`. */
export type CompactionOutcome = EventData["compact/end"]["outcome"];

/** The share of the window beyond which the next request might not fit. */
const FULL = 0.8;

/** What one tool result may have in the request for a summary, in characters, at each attempt. */
const RESULT_CHARS = [4_000, 400];

const ASK =
  `Summarise this conversation, so that you can go on from the summary alone. Say what the user \
wants, in their words where these matter; what was decided and what must be kept to; which files \
were read and changed, with what matters in them; which commands were run and what came of it; \
what is done, what is left and what comes next; what does not work. Be complete and brief. Answer \
with the summary and nothing else, and call no tool.`;

/** Whether the next request might not fit, as far as the provider's counts tell. */
export function isNearlyFull({ fold }: TurnContext, { info }: Model): boolean {
  const { contextWindow } = info;
  return contextWindow !== undefined && fold.contextTokens > contextWindow * FULL;
}

/** Has the model summarise the conversation, and logs how that went. */
export async function compact(
  context: TurnContext,
  model: Model,
  system: string,
  trigger: CompactionTrigger,
): Promise<CompactionOutcome> {
  await context.record({ type: "compact/start", data: { trigger } });
  const outcome = await summarise(context, model, system);
  await context.record({ type: "compact/end", data: { outcome } });
  return outcome;
}

async function summarise(
  context: TurnContext,
  model: Model,
  system: string,
): Promise<CompactionOutcome> {
  let failure: ModelFailure | undefined;
  for (const chars of RESULT_CHARS) {
    const answer = await ask(context, model, system, chars);
    if (context.signal.aborted) return { type: "cancelled" };
    if (answer.type === "text") {
      const { provider, model: name } = model.info;
      return { type: "completed", summary: answer.text, model: `${provider}/${name}` };
    }
    failure = answer.failure;
    // Only a conversation that does not fit is worth sending again, shortened further.
    if (failure.code !== "context_window") break;
  }
  return { type: "failed", message: failure?.message ?? "the model gave no summary" };
}

type Answer =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "failure"; readonly failure: ModelFailure };

async function ask(
  context: TurnContext,
  model: Model,
  system: string,
  resultChars: number,
): Promise<Answer> {
  const stream = model.stream({
    system,
    messages: withQuestion(context.fold.messages(), resultChars),
    // Some providers refuse a conversation with calls of tools that are not declared.
    tools: context.tools.definitions(),
    signal: context.signal,
  });
  let text = "";
  let failure: ModelFailure | undefined;
  for await (const part of stream) {
    if (part.type === "text") text += part.text;
    if (part.type === "failure") failure = part.failure;
  }
  if (failure === undefined && text.trim() !== "") return { type: "text", text: text.trim() };
  const message = "the model gave no summary";
  return {
    type: "failure",
    failure: failure ?? { code: "malformed_response", message, retryable: false },
  };
}

function withQuestion(messages: readonly ModelMessage[], resultChars: number): ModelMessage[] {
  const shortened = messages.map((message) => shortenResults(message, resultChars));
  const last = shortened.at(-1);
  // Some providers refuse two user messages in a row.
  if (last?.role === "user") {
    return [...shortened.slice(0, -1), { ...last, text: `${last.text}\n\n${ASK}` }];
  }
  return [...shortened, { role: "user", text: ASK }];
}

function shortenResults(message: ModelMessage, chars: number): ModelMessage {
  if (message.role !== "tool") return message;
  const results = message.results.map((result) => ({
    ...result,
    content: result.content.map((item) =>
      item.type === "text" ? { ...item, text: shorten(item.text, chars) } : {
        type: "text" as const,
        text: `[${item.mimeType}]`,
      }
    ),
  }));
  return { role: "tool", results };
}

function shorten(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const half = Math.floor(chars / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[${left} characters left out]\n${text.slice(-half)}`
    .toWellFormed();
}
