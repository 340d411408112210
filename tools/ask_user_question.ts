/** The tool with which the model asks the user. */
import { z } from "zod";
import { askUntil, type StartTimer, startTimer } from "./_question_deadline.ts";
import { answersForPerson, type QuestionOutcome, questionsResult } from "./_question_text.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";
import type { Question, UserInteraction } from "./user_interaction.ts";

/** The arguments of the tool. */
export interface AskUserQuestionArgs {
  /** One to eight, asked in this order. */
  readonly questions: readonly Question[];
}

/** Options for {@linkcode askUserQuestionTool}. */
export interface AskUserQuestionOptions {
  /** How long each question stays open, in milliseconds. @default {600_000} */
  readonly timeoutMs?: number;
  /** What the time is measured with. @default {setTimeout} */
  readonly startTimer?: StartTimer;
}

const TIMEOUT_MS = 600_000;
const MAX_QUESTIONS = 8;
const MAX_OPTIONS = 24;
const MAX_TITLE = 120;

const option = z.object({
  label: text(200).describe("What the user picks, and what you get back. Unique in the question"),
  description: z.string().max(1_000).optional().describe("What picking it means"),
});

const question = z.object({
  question: text(2_000).describe("The question, complete and specific"),
  header: text(80).optional().describe("A few words that stand above the question"),
  detail: z.string().max(8_000).optional().describe("What helps to decide"),
  multiSelect: z.boolean().optional().describe("Whether several options may be picked"),
  options: z.array(option).max(MAX_OPTIONS)
    .refine((options) => new Set(options.map(({ label }) => label)).size === options.length, {
      message: "must have labels that differ",
    })
    .optional()
    .describe("The answers to pick from. Without any, the user writes the answer"),
});

const parameters = z.object({
  questions: z.array(question).min(1).max(MAX_QUESTIONS).describe("Asked one after the other"),
});

const description =
  "Asks the user, and waits for the answers. Use it where a decision is the user's and neither " +
  "the request nor the workspace settles it; not for what you can find out yourself. Next to the " +
  'options the user can always write an answer, so offer none such as "Other". Never ask for ' +
  "passwords, keys or other secrets.";

/**
 * Makes the tool that asks through `interaction`, one question after the other. A question that
 * nobody answers in time is withdrawn; after it, or after one that was dismissed or failed, the
 * rest is not asked. A cancelled call withdraws its question at once.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { askUserQuestionTool, ToolRegistry } from "@dsh/acp/tools";
 *
 * await using tools = new ToolRegistry();
 * tools.register(askUserQuestionTool({
 *   ask: () => Promise.resolve({ type: "answered", selected: ["Yes"] }),
 * }));
 *
 * const args = '{"questions":[{"question":"Go on?","options":[{"label":"Yes"},{"label":"No"}]}]}';
 * const prepared = tools.prepare("ask_user_question", args);
 * if (prepared.type === "invalid") throw new Error("the arguments are valid");
 * const result = await prepared.call.execute({
 *   sessionId: "session",
 *   callId: "call",
 *   cwd: "/",
 *   signal: new AbortController().signal,
 *   policy: {
 *     mode: "read-only",
 *     writableRoots: [],
 *     protectedPaths: [],
 *     network: "off",
 *     enforcement: "sandbox",
 *   },
 *   output: () => {},
 * });
 * assertEquals(result.content, [
 *   { type: "text", text: 'Question: Go on?\nThe user chose: "Yes"' },
 * ]);
 * ```
 */
export function askUserQuestionTool(
  interaction: UserInteraction,
  options: AskUserQuestionOptions = {},
): Tool<AskUserQuestionArgs> {
  const limit = {
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    startTimer: options.startTimer ?? startTimer,
  };
  return {
    name: "ask_user_question",
    description,
    parameters,
    // A person answers one question at a time, and what comes next may depend on it.
    concurrency: "exclusive",
    async execute({ questions }, context) {
      const outcomes: QuestionOutcome[] = [];
      for (const question of questions) {
        const goesOn = outcomes.every(leavesUserThere);
        outcomes.push(
          goesOn ? await ask(interaction, question, context, limit) : { type: "not_asked" },
        );
      }
      return questionsResult(questions, outcomes);
    },
    presentCall: ({ questions }) => ({ type: "generic", title: title(questions), kind: "other" }),
    presentResult: ({ questions }, result) => presentAnswers(questions, result),
  };
}

function ask(
  interaction: UserInteraction,
  question: Question,
  { sessionId, callId, signal }: ToolContext,
  limit: Required<AskUserQuestionOptions>,
) {
  return askUntil(interaction, { sessionId, callId, question, signal }, limit);
}

/** Whoever dismisses one question, or is away, is not bothered with the next. */
function leavesUserThere(outcome: QuestionOutcome): boolean {
  return outcome.type === "answered" ||
    outcome.type === "declined" && outcome.reason !== "deadline";
}

function presentAnswers(questions: readonly Question[], { meta }: ToolResult) {
  const text = answersForPerson(questions, meta);
  return {
    type: "generic" as const,
    ...(text !== undefined && { content: [{ type: "text" as const, text }] }),
  };
}

function title(questions: readonly Question[]): string {
  const [first] = questions;
  if (questions.length !== 1 || !first) return `Ask ${questions.length} questions`;
  const line = first.question.trim().split(/\r?\n/, 1)[0]!;
  const characters = [...line];
  return characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE).join("")}…` : line;
}

function text(max: number) {
  return z.string().max(max).refine((value) => value.trim() !== "", {
    message: "must not be blank",
  });
}
