/** What the model and a person read of questions and their answers. */
import type { JsonObject } from "./json.ts";
import { errorResult, textResult, type ToolResult } from "./tool.ts";
import type { Question, QuestionAnswer } from "./user_interaction.ts";

/** How a question ended; `not_asked` where an earlier one ended the call. */
export type QuestionOutcome = QuestionAnswer | { readonly type: "not_asked" };

/**
 * The result of a call: one block per question, in order. It is an error only where nothing came
 * from the user, neither an answer nor a refusal to give one.
 */
export function questionsResult(
  questions: readonly Question[],
  outcomes: readonly QuestionOutcome[],
): ToolResult {
  const text = questions.map((question, index) => {
    const number = questions.length > 1 ? ` ${index + 1} of ${questions.length}` : "";
    return `Question${number}: ${question.question}\n${forModel(question, outcomes[index]!)}`;
  }).join("\n\n");
  const meta: JsonObject = { answers: outcomes.map(forPerson) };
  if (outcomes.some(isReply)) return textResult(text, meta);
  return errorResult(`the user gave no answer\n\n${text}`, meta);
}

/** The answers as a person reads them on the card; undefined where `meta` is not of this tool. */
export function answersForPerson(
  questions: readonly Question[],
  meta: JsonObject | undefined,
): string | undefined {
  const answers = meta?.["answers"];
  if (!Array.isArray(answers) || answers.length !== questions.length) return undefined;
  return questions.map(({ question }, index) => `${question}\n\n→ ${answers[index]}`).join("\n\n");
}

function isReply(outcome: QuestionOutcome): boolean {
  return outcome.type === "answered" ||
    outcome.type === "declined" && outcome.reason !== "deadline";
}

function forModel(question: Question, outcome: QuestionOutcome): string {
  switch (outcome.type) {
    case "answered":
      if (outcome.custom !== undefined) return `The user wrote: ${outcome.custom}`;
      if (outcome.selected.length === 0) return "The user chose none of the options";
      return `The user chose: ${outcome.selected.map((label) => JSON.stringify(label)).join(", ")}`;
    case "declined":
      switch (outcome.reason) {
        case "user":
          return "The user declined to answer. Do not ask the same again: " +
            "go on where you can do without, or say what you need";
        case "empty":
          return `The user sent the form without ${
            question.options?.length ? "choosing an option" : "writing an answer"
          }`;
        case "deadline":
          return "The user did not answer in time, so the question was withdrawn. " +
            "Go on where you can do without, or end your turn with the question";
        default: {
          const never: never = outcome.reason;
          return never;
        }
      }
    case "cancelled":
      return "The question was dismissed before it was answered";
    case "failed":
      return `No answer could be had: ${outcome.message}`;
    case "not_asked":
      return "Not asked, as the questions ended with the one before";
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

function forPerson(outcome: QuestionOutcome): string {
  switch (outcome.type) {
    case "answered":
      return outcome.custom ?? (outcome.selected.join(", ") || "(none of the options)");
    case "declined":
      switch (outcome.reason) {
        case "user":
          return "(declined)";
        case "empty":
          return "(left empty)";
        case "deadline":
          return "(no answer in time)";
        default: {
          const never: never = outcome.reason;
          return never;
        }
      }
    case "cancelled":
      return "(dismissed)";
    case "failed":
      return `(failed: ${outcome.message})`;
    case "not_asked":
      return "(not asked)";
    default: {
      const never: never = outcome;
      return never;
    }
  }
}
