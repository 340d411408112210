/** The course of a chat: open a session, then line by line until the person leaves. */
import type { StopReason } from "@agentclientprotocol/sdk";
import { type Conversation, problemText } from "./conversation.ts";
import type { Input } from "./input.ts";
import type { Palette } from "./_palette.ts";
import { safeText } from "./_safe_text.ts";
import { loadSession, runSlashCommand } from "./slash_commands.ts";

/** What a chat works with. */
export interface ChatParts {
  readonly conversation: Conversation;
  readonly input: Input;
  readonly palette: Palette;
  /** Writes below everything drawn so far. */
  readonly say: (text: string) => void;
  /** Ends what was drawn. */
  readonly endDrawing: () => void;
  /** Whether the agent can no longer be asked. */
  readonly isClosed: () => boolean;
}

/** One chat. Its promises settle only while the agent lives; who runs it watches that. */
export class Chat {
  readonly #parts: ChatParts;
  #turn: "none" | "running" | "cancelled" = "none";

  constructor(parts: ChatParts) {
    this.#parts = parts;
  }

  /** Ctrl-C: cancels the turn. False where there is none, or the second time. */
  interrupt(): boolean {
    if (this.#turn !== "running") return false;
    this.#turn = "cancelled";
    const { conversation, say, palette } = this.#parts;
    say(`${palette.dim("Cancelling")}\n`);
    conversation.cancel().catch(() => {
      // The agent is gone: its end is noticed, and ends the chat.
    });
    return true;
  }

  /** Opens the session, runs the lines, and resolves with the exit code. */
  async run(resume: string | undefined): Promise<number> {
    const { input, say } = this.#parts;
    if (!await this.#open(resume)) return 1;
    let leaving = false;
    for (;;) {
      const reply = await input.ask(this.#parts.palette.bold("> "), { history: true });
      switch (reply.type) {
        case "line": {
          leaving = false;
          const outcome = await this.#line(reply.text.trim());
          if (outcome === "quit") return 0;
          if (outcome === "done" || input.interactive) break;
          return outcome === "cancelled" ? 130 : 1;
        }
        case "interrupt":
          if (leaving) return 0;
          leaving = true;
          say("Ctrl-C again or Ctrl-D leaves\n");
          break;
        case "end":
        case "withdrawn":
          return 0;
        default: {
          const never: never = reply;
          throw new TypeError(`Cannot read an unknown reply: ${JSON.stringify(never)}`);
        }
      }
    }
  }

  async #open(resume: string | undefined): Promise<boolean> {
    const { conversation, input, palette, say, endDrawing } = this.#parts;
    try {
      if (resume === undefined) await conversation.start();
      else if (await loadSession(resume, this.#parts, { replay: input.interactive }) !== "done") {
        return false;
      }
    } catch (error) {
      this.#fail(problemText(error));
      return false;
    }
    endDrawing();
    if (input.interactive) {
      const values = conversation.options.map(({ name, currentValue }) =>
        `${name}: ${currentValue}`
      );
      say(`${palette.dim(safeText([conversation.cwd, ...values].join(" · ")))}\n`);
      say(`${palette.dim("/help lists the commands; Ctrl-C cancels, Ctrl-D leaves")}\n`);
    }
    return true;
  }

  async #line(text: string): Promise<"done" | "failed" | "cancelled" | "quit"> {
    if (text === "") return "done";
    const { conversation, input, endDrawing, say } = this.#parts;
    const outcome = await runSlashCommand(text, this.#parts);
    endDrawing();
    if (outcome !== "prompt") return outcome;
    this.#turn = "running";
    const end = await conversation.prompt(text);
    this.#turn = "none";
    endDrawing();
    if (input.interactive) say("\n");
    if (end.type === "failed") {
      this.#fail(end.message);
      return "failed";
    }
    return this.#finish(end.reason);
  }

  #finish(reason: StopReason): "done" | "failed" | "cancelled" {
    switch (reason) {
      case "end_turn":
        return "done";
      case "cancelled":
        this.#parts.say("Cancelled\n");
        return "cancelled";
      case "max_tokens":
        this.#fail("The answer reached the model's limit of tokens");
        return "failed";
      case "max_turn_requests":
        this.#fail("The turn reached the limit of model requests");
        return "failed";
      case "refusal":
        this.#fail("The model refuses to answer");
        return "failed";
      default: {
        const never: never = reason;
        throw new TypeError(`Cannot read an unknown stop reason: ${JSON.stringify(never)}`);
      }
    }
  }

  #fail(message: string): void {
    const { palette, say, isClosed } = this.#parts;
    // Then its end is what went wrong.
    if (!isClosed()) say(`${palette.red(safeText(message))}\n`);
  }
}
