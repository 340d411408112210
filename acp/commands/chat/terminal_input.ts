/** Lines from a terminal, with editing, history and pasted text. */
import { createInterface, type Interface } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import type { AskOptions, Input, Reply } from "./input.ts";
import { PasteFilter, withNewlines } from "./_paste_filter.ts";
import type { Screen } from "./screen.ts";

/** The terminal. */
export interface Terminal {
  /** `Deno.stdin`, or something like it. */
  readonly stdin: Pick<typeof Deno.stdin, "readable" | "setRaw">;
  /** How wide it is, in columns. */
  readonly columns: () => number;
  readonly screen: Screen;
  /** Is called for Ctrl-C where no line is asked for. */
  readonly onInterrupt: () => void;
  /** Is called when the terminal is gone. */
  readonly onGone: () => void;
}

const CTRL_C = "\x03";
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";

/**
 * Reads keys from now on. What is typed while nothing is asked for is dropped: it must not become
 * the answer to a question that was not there when it was typed.
 */
export function terminalInput(terminal: Terminal): Input {
  const { stdin, screen } = terminal;
  let asked: { keys(text: string): void; leave(): void } | undefined;
  let history: string[] = [];
  stdin.setRaw(true);
  pump().catch(() => {
    // A terminal that cannot be read is gone.
  }).then(terminal.onGone);

  async function pump(): Promise<void> {
    for await (const text of stdin.readable.pipeThrough(new TextDecoderStream())) {
      if (asked) asked.keys(text);
      else for (const key of text) if (key === CTRL_C) terminal.onInterrupt();
    }
  }

  function ask(prompt: string, options: AskOptions = {}): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const keys = new PassThrough();
    const editor = createInterface({
      input: keys,
      output: screenWriter(terminal),
      terminal: true,
      prompt,
      history: options.history ? [...history] : [],
    });
    const filter = new PasteFilter();
    let finished = false;
    const leave = (): void => {
      finished = true;
      asked = undefined;
      options.signal?.removeEventListener("abort", withdraw);
      editor.close();
      screen.editing = undefined;
    };
    const finish = (reply: Reply): void => {
      if (finished) return;
      // Enter has moved on by itself.
      screen.write(reply.type === "line" ? PASTE_OFF : `${PASTE_OFF}\n`);
      leave();
      resolve(reply);
    };
    const withdraw = () => finish({ type: "withdrawn" });
    asked = {
      keys: (text) => void keys.write(filter.push(text)),
      leave: () => {
        screen.write(`${PASTE_OFF}\n`);
        leave();
      },
    };
    editor.on("line", (line: string) => {
      if (options.history && line.trim() !== "") {
        history = [line, ...history.filter((one) => one !== line)].slice(0, 200);
      }
      finish({ type: "line", text: withNewlines(line) });
    });
    editor.on("SIGINT", () => {
      if (editor.line === "" || !options.history) return finish({ type: "interrupt" });
      // The first Ctrl-C gives up what was typed.
      editor.write(null, { ctrl: true, name: "e" });
      editor.write(null, { ctrl: true, name: "u" });
    });
    // The default would suspend half of the program.
    editor.on("SIGTSTP", () => {});
    editor.on("close", () => finish({ type: "end" }));
    screen.editing = { above: (write) => writeAbove(editor, screen, write) };
    screen.write(PASTE_ON);
    editor.prompt();
    if (options.signal?.aborted) withdraw();
    else options.signal?.addEventListener("abort", withdraw);
    return promise;
  }

  return {
    interactive: true,
    ask,
    [Symbol.dispose]() {
      // Nobody waits for the answer any more.
      asked?.leave();
      try {
        stdin.setRaw(false);
      } catch {
        // The terminal is gone, and its mode with it.
      }
    },
  };
}

function screenWriter({ screen, columns }: Terminal): Writable {
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Uint8Array, _encoding, done) {
      screen.write(typeof text === "string" ? text : new TextDecoder().decode(text));
      done();
    },
  });
  return Object.defineProperty(output, "columns", { get: columns });
}

function writeAbove(editor: Interface, screen: Screen, write: () => void): void {
  const { rows } = editor.getCursorPos();
  screen.write(`${rows > 0 ? `\x1b[${rows}A` : ""}\r\x1b[J`);
  write();
  // The editor goes up as many rows before it draws.
  screen.write("\n".repeat(rows));
  editor.prompt(true);
}
