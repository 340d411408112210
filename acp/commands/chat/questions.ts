/** Puts what the agent asks to the person: approvals and forms. */
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationPropertySchema,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import type { Input, Reply } from "./input.ts";
import type { Palette } from "./_palette.ts";
import { exactText, safeText } from "./_safe_text.ts";

/** What questions need. */
export interface QuestionDesk {
  readonly input: Input;
  readonly palette: Palette;
  /** Writes below everything drawn so far. */
  readonly say: (text: string) => void;
  /** Cancels the turn that asks. */
  readonly cancelTurn: () => void;
}

type Choice = { readonly value: string; readonly title: string };

/** Asks one thing after the other, in the order in which they came. */
export class Questions {
  readonly #desk: QuestionDesk;
  #last: Promise<unknown> = Promise.resolve();

  constructor(desk: QuestionDesk) {
    this.#desk = desk;
  }

  /** `session/request_permission`. Without a person it is a rejection, and says so. */
  permission(
    { options }: Pick<RequestPermissionRequest, "options">,
    signal: AbortSignal,
  ): Promise<RequestPermissionResponse> {
    return this.#inTurn(async () => {
      const { input, say } = this.#desk;
      if (!input.interactive) {
        say("Rejected: nobody is here to be asked\n");
        return decision(options.find(({ kind }) => kind === "reject_once"));
      }
      say(choiceLines(options.map(({ name }) => name)));
      for (;;) {
        const reply = await this.#ask("Allow it? ", signal);
        if (reply === undefined) return decision(undefined);
        const option = pick(options, reply);
        if (option) return decision(option);
        say(`Type a number from 1 to ${options.length}\n`);
      }
    });
  }

  /** `elicitation/create`: a form, field by field. */
  form(
    request: CreateElicitationRequest,
    signal: AbortSignal,
  ): Promise<CreateElicitationResponse> {
    return this.#inTurn(async () => {
      const { say, palette: { bold } } = this.#desk;
      const schema = formSchema(request);
      if (!schema) return { action: "cancel" };
      say(`${safeText(request.message).split("\n").map(bold).join("\n")}\n`);
      const fields = Object.entries(schema.properties ?? {});
      const content: Record<string, string | string[]> = {};
      const own = fields.find(([name, field]) =>
        !choicesOf(field) && !schema.required?.includes(name)
      )?.[0];
      for (const [name, field] of fields) {
        const choices = choicesOf(field);
        // Whoever could choose could also have written an answer there.
        if (name === own && fields.length > 1) continue;
        const reply = choices
          ? await this.#choose(choices, field.type === "array", own !== undefined, signal)
          : await this.#write(signal);
        if (reply === undefined) return { action: "cancel" };
        if (reply.type === "own" && choices) content[own!] = reply.text;
        else if (reply.type === "own") content[name] = reply.text;
        else if (reply.values.length > 0) {
          content[name] = field.type === "array" ? reply.values : reply.values[0]!;
        }
      }
      return { action: "accept", content };
    });
  }

  async #choose(
    choices: readonly Choice[],
    many: boolean,
    own: boolean,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const { say } = this.#desk;
    say(choiceLines(choices.map(({ title }) => title)));
    const rule = many ? "Numbers, as in 1,3" : "A number";
    for (;;) {
      const text = await this.#ask(`${rule}${own ? ", or your own answer" : ""}: `, signal);
      if (text === undefined) return undefined;
      const words = many ? text.split(/[\s,]+/).filter((word) => word !== "") : [text];
      const picked = words.map((word) => pick(choices, word));
      if (picked.every((one) => one !== undefined)) {
        return { type: "chosen", values: picked.map(({ value }) => value) };
      }
      if (text === "") return { type: "chosen", values: [] };
      if (own && !/^[\d\s,]+$/.test(text)) return { type: "own", text };
      say(`Type ${many ? "numbers" : "a number"} from 1 to ${choices.length}\n`);
    }
  }

  async #write(signal: AbortSignal): Promise<Answer | undefined> {
    const text = await this.#ask("Your answer: ", signal);
    return text === undefined ? undefined : { type: "own", text };
  }

  /** A trimmed line; undefined where the question is over without one. */
  async #ask(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const { input, palette, cancelTurn, say } = this.#desk;
    const reply: Reply = await input.ask(palette.bold(prompt), { signal });
    switch (reply.type) {
      case "line":
        return reply.text.trim();
      case "withdrawn":
        say("No longer asked\n");
        return undefined;
      case "interrupt":
      case "end":
        cancelTurn();
        return undefined;
      default: {
        const never: never = reply;
        throw new TypeError(`Cannot read an unknown reply: ${JSON.stringify(never)}`);
      }
    }
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(ask);
    this.#last = mine.catch(() => {
      // Who asked is told; the next question is another one.
    });
    return mine;
  }
}

type Answer =
  | { readonly type: "chosen"; readonly values: string[] }
  | { readonly type: "own"; readonly text: string };

function decision(option: PermissionOption | undefined): RequestPermissionResponse {
  return option
    ? { outcome: { outcome: "selected", optionId: option.optionId } }
    : { outcome: { outcome: "cancelled" } };
}

function choiceLines(titles: readonly string[]): string {
  return titles.map((title, index) => `  ${index + 1}) ${exactText(title)}\n`).join("");
}

/** What a number from 1 up stands for. */
function pick<T>(list: readonly T[], word: string): T | undefined {
  return /^\d{1,3}$/.test(word) ? list[Number(word) - 1] : undefined;
}

/** The schema of a form of texts and choices, which is all that is shown here. */
function formSchema(request: CreateElicitationRequest) {
  if (request.mode !== "form") return undefined;
  const { requestedSchema: schema } = request as Extract<typeof request, { mode: "form" }>;
  const fields = Object.values(schema.properties ?? {});
  const known = fields.every(({ type }) => type === "string" || type === "array");
  return known ? schema : undefined;
}

function choicesOf(field: ElicitationPropertySchema): Choice[] | undefined {
  const { oneOf, enum: values, items } = field as {
    readonly oneOf?: readonly { const: string; title?: string }[] | null;
    readonly enum?: readonly string[] | null;
    readonly items?: {
      readonly anyOf?: readonly { const: string; title?: string }[];
      readonly enum?: readonly string[];
    };
  };
  const titled = oneOf ?? items?.anyOf;
  if (titled) return titled.map((one) => ({ value: one.const, title: one.title ?? one.const }));
  return (values ?? items?.enum)?.map((value) => ({ value, title: value }));
}
