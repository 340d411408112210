/** Questions to ACP form elicitations, and what the client answers to what the user said. */
import type {
  ClientCapabilities,
  ElicitationPropertySchema,
  ElicitationSchema,
  EnumOption,
} from "@agentclientprotocol/sdk";
import type { Question, QuestionAnswer } from "../../tools/user_interaction.ts";

/** The part of an `elicitation/create` request that depends on the question. */
export interface ElicitationForm {
  /** The question, with its detail below. */
  readonly message: string;
  /** The fields; none are nested. */
  readonly requestedSchema: ElicitationSchema;
}

/** The field of what was selected, and the one of what was written. */
const CHOICE = "choice";
const CUSTOM = "custom";

/**
 * Tells whether the client shows forms: only `elicitation.form` that is there and not null says
 * so, `elicitation: {}` does not (ACP, Client Capabilities).
 */
export function supportsForms(capabilities: ClientCapabilities | undefined): boolean {
  return (capabilities?.elicitation?.form ?? undefined) !== undefined;
}

/**
 * The form of a question. Without options it has one required field `custom`; with options a field
 * `choice` and, next to it, the optional `custom`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { elicitationForm, questionAnswer } from "@dsh/acp/mapper";
 *
 * const question = { question: "Which one?", options: [{ label: "A" }, { label: "B" }] };
 * const form = elicitationForm(question);
 * assertEquals(form.message, "Which one?");
 * assertEquals(Object.keys(form.requestedSchema.properties ?? {}), ["choice", "custom"]);
 *
 * assertEquals(questionAnswer(question, { action: "accept", content: { choice: "A" } }), {
 *   type: "answered",
 *   selected: ["A"],
 * });
 * ```
 */
export function elicitationForm(question: Question): ElicitationForm {
  const { detail } = question;
  const schema = { type: "object", title: question.header ?? "Question" } as const;
  const message = detail?.trim() ? `${question.question}\n\n${detail}` : question.question;
  if (!hasOptions(question)) {
    return {
      message,
      requestedSchema: {
        ...schema,
        properties: { [CUSTOM]: { type: "string", title: question.question } },
        required: [CUSTOM],
      },
    };
  }
  return {
    message,
    requestedSchema: {
      ...schema,
      properties: {
        [CHOICE]: choiceField(question),
        [CUSTOM]: {
          type: "string",
          title: "Your own answer",
          description: "Optional. What is written here counts instead of the selection.",
        },
      },
      required: [],
    },
  };
}

/**
 * Reads the response. Total: whatever the client sent becomes an answer. Only `accept` with
 * content that fits the form is one of the user; a `custom` that is not blank overrides the
 * selection; an action other than `accept` and `decline` is a cancel.
 */
export function questionAnswer(question: Question, response: unknown): QuestionAnswer {
  if (!isRecord(response)) return invalid("is no object", response);
  const { action, content } = response;
  switch (action) {
    case "accept":
      return acceptedAnswer(question, content ?? {});
    case "decline":
      return { type: "declined", reason: "user" };
    default:
      // Whatever a newer client means by it, it is no answer.
      return { type: "cancelled" };
  }
}

function acceptedAnswer(question: Question, content: unknown): QuestionAnswer {
  if (!isRecord(content)) return invalid("has content that is no object", content);
  const custom = content[CUSTOM] ?? "";
  if (typeof custom !== "string") return invalid(`has a "${CUSTOM}" that is no text`, custom);
  if (custom.trim() !== "") return { type: "answered", selected: [], custom };
  if (!hasOptions(question)) return { type: "declined", reason: "empty" };
  return question.multiSelect
    ? selectedMany(question, content[CHOICE] ?? [])
    : selectedOne(question, content[CHOICE] ?? "");
}

function selectedOne(question: Question, choice: unknown): QuestionAnswer {
  if (typeof choice !== "string") return invalid(`has a "${CHOICE}" that is no text`, choice);
  if (isLabel(question, choice)) return { type: "answered", selected: [choice] };
  if (choice === "") return { type: "declined", reason: "empty" };
  return invalid(`has a "${CHOICE}" that was not offered`, choice);
}

function selectedMany(question: Question, choice: unknown): QuestionAnswer {
  if (!Array.isArray(choice)) return invalid(`has a "${CHOICE}" that is no list`, choice);
  const unknown = choice.find((label) => typeof label !== "string" || !isLabel(question, label));
  if (unknown !== undefined) return invalid(`has a "${CHOICE}" that was not offered`, unknown);
  return { type: "answered", selected: [...new Set<string>(choice)] };
}

function choiceField({ question, multiSelect, options = [] }: Question): ElicitationPropertySchema {
  const choices = options.map(({ label, description }): EnumOption => ({
    const: label,
    // In the title, since not every client shows the description of an option.
    title: description?.trim() ? `${label}: ${description}` : label,
  }));
  return multiSelect
    ? {
      type: "array",
      title: question,
      description: "Choose any of these, or write an answer of your own below.",
      items: { anyOf: choices },
    }
    : {
      type: "string",
      title: question,
      description: "Choose one of these, or write an answer of your own below.",
      oneOf: choices,
    };
}

function hasOptions({ options }: Question): boolean {
  return options !== undefined && options.length > 0;
}

function isLabel({ options }: Question, label: string): boolean {
  return options?.some((option) => option.label === label) ?? false;
}

function invalid(problem: string, value: unknown): QuestionAnswer {
  const shown = JSON.stringify(value) ?? String(value);
  const clipped = shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
  return { type: "failed", message: `the client's response ${problem}: ${clipped}` };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
