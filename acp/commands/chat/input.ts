/** What the person says: lines of a terminal, lines of a pipe, or one prompt. */

/** What a question came to. */
export type Reply =
  | { readonly type: "line"; readonly text: string }
  /** Ctrl-C. */
  | { readonly type: "interrupt" }
  /** Ctrl-D, or the end of the input. */
  | { readonly type: "end" }
  /** Nobody has to answer any more. */
  | { readonly type: "withdrawn" };

/** How a line is asked for. */
export interface AskOptions {
  /** Withdraws the question. */
  readonly signal?: AbortSignal;
  /** Whether earlier prompts can be called back, and this one later. */
  readonly history?: boolean;
}

/** Where prompts and answers come from. Disposal leaves the terminal as it was. */
export interface Input extends Disposable {
  /** Whether a person is there, who can be asked in the middle of a turn. */
  readonly interactive: boolean;
  /** Waits for a line. One at a time. */
  ask(prompt: string, options?: AskOptions): Promise<Reply>;
}

/** Prompts from anywhere but a terminal. Empty lines are none. */
export function lineInput(lines: AsyncIterator<string> | Iterator<string>): Input {
  return {
    interactive: false,
    async ask() {
      for (;;) {
        const { done, value } = await lines.next();
        if (done) return { type: "end" };
        if (value.trim() !== "") return { type: "line", text: value };
      }
    },
    [Symbol.dispose]() {},
  };
}
