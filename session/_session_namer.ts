/** A better name for a session than its first line, by a small model that nobody waits for. */
import type { EventBody, PromptContent } from "./events.ts";
import type { ModelCatalogue } from "./model/model.ts";
import { promptTitle } from "./title.ts";

const SYSTEM =
  "You name conversations between a developer and a coding agent. Answer with a title " +
  "of three to seven words for the one that begins with the message you are given, in its " +
  "language, without quotes and without a full stop. Do not answer the message itself.";

/** How much of a prompt is sent, in UTF-16 code units. */
const MAX_PROMPT = 4_000;
/** How much of an answer is read. */
const MAX_ANSWER = 500;
const TIMEOUT_MS = 30_000;

/** Asks once in its life, and has the title when it has it. A failure leaves the title as it is. */
export class SessionNamer implements AsyncDisposable {
  readonly #models: ModelCatalogue;
  readonly #stop = new AbortController();
  #asking: Promise<void> | undefined;
  #title: string | undefined;

  /** Without a small model among `models` it never asks. */
  constructor(models: ModelCatalogue) {
    this.#models = models;
  }

  /** Starts to ask about a first prompt. Returns at once. */
  begin(content: readonly PromptContent[]): void {
    if (!this.#models.smallModel) return;
    this.#asking ??= this.#ask(content).catch(() => {
      // The first line goes on being the title.
    });
  }

  /** The title, once, as events. */
  take(): readonly EventBody[] {
    const title = this.#title;
    this.#title = undefined;
    return title === undefined ? [] : [{ type: "session/title", data: { title } }];
  }

  async #ask(content: readonly PromptContent[]): Promise<void> {
    const text = content.map((part) => part.type === "text" ? part.text : "").join("")
      .slice(0, MAX_PROMPT).trim();
    if (text === "") return;
    const resolved = await this.#models.resolve(this.#models.smallModel);
    if (resolved.type === "unavailable") return;
    const timer = setTimeout(() => this.#stop.abort(), TIMEOUT_MS);
    try {
      let answer = "";
      const messages = [{ role: "user", text }] as const;
      const request = { system: SYSTEM, messages, tools: [], signal: this.#stop.signal };
      for await (const part of resolved.model.stream(request)) {
        if (part.type === "failure") return;
        if (part.type === "text") answer += part.text;
        if (answer.length > MAX_ANSWER) break;
      }
      this.#title = promptTitle([{ type: "text", text: unquoted(answer) }]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the request. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#asking;
  }
}

/** Models quote titles whatever they are told. */
function unquoted(text: string): string {
  return text.trim().replace(/^["'“«](.*)["'”»]\.?$/s, "$1");
}
