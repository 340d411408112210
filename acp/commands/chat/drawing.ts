/** Draws session updates as text for a terminal: no input, no output, no clock. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { CardDrawing, contentText } from "./_card_drawing.ts";
import { Flow, type Style } from "./_flow.ts";
import { type Palette, palette } from "./_palette.ts";
import { safeText } from "./_safe_text.ts";

/** Draws the updates of one session, in order; what it returns is to be written as it is. */
export class Drawing {
  readonly #flow = new Flow();
  readonly #palette: Palette;
  readonly #cards: CardDrawing;

  /** `colour`: whether the reader is a terminal that shows colours. */
  constructor({ colour }: { readonly colour: boolean }) {
    this.#palette = palette(colour);
    this.#cards = new CardDrawing(this.#flow, this.#palette);
  }

  /** What an update adds. */
  draw(update: SessionUpdate): string {
    const { bold, dim, colour } = this.#palette;
    switch (update.sessionUpdate) {
      case "user_message_chunk":
        return this.#flow.enter("user") + this.#flow.lines(contentText(update.content), bold, "> ");
      case "agent_message_chunk":
        return this.#stream("text", contentText(update.content));
      case "agent_thought_chunk":
        return this.#stream("thought", contentText(update.content), colour ? "" : "~ ", dim);
      case "tool_call":
        return this.#cards.start(update);
      case "tool_call_update":
        return this.#cards.update(update);
      case "plan": {
        const lines = update.entries.map(({ status, content }) =>
          `${PLAN_MARKS[status]} ${safeText(content)}`
        );
        return this.#flow.enter("plan") + this.#flow.lines(lines.join("\n"), dim);
      }
      case "notice": {
        const text = [update.title, update.description].filter(Boolean).join(": ");
        return this.#flow.enter("notice") + this.#flow.lines(safeText(text), dim);
      }
      case "available_commands_update":
      case "current_mode_update":
      case "config_option_update":
      case "session_info_update":
      case "usage_update":
      case "compaction_update":
      case "compaction_summary_chunk":
        return "";
      default: {
        const never: never = update;
        throw new TypeError(`Cannot draw an unknown update: ${JSON.stringify(never)}`);
      }
    }
  }

  /** Ends the line; what is drawn next goes on with its block. */
  closeLine(): string {
    return this.#flow.close();
  }

  /** Ends what was drawn, with its line. */
  end(): string {
    return this.#flow.end();
  }

  #stream(block: string, text: string, prefix?: string, style?: Style): string {
    const clean = safeText(text);
    // Models send blank text around calls.
    if (this.#flow.block !== block && clean.trim() === "") return "";
    return this.#flow.enter(block) + this.#flow.stream(clean, prefix, style);
  }
}

const PLAN_MARKS = { pending: "[ ]", in_progress: "[>]", completed: "[x]" } as const;
