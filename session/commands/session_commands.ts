import { BUILTIN_COMMANDS, isBuiltin } from "./builtin_commands.ts";
import type { PromptTemplate } from "./prompt_templates.ts";
import type { SessionCommand } from "./session_command.ts";

/** The commands as they are at one time. */
export interface CommandReading {
  /** All that can be typed. */
  readonly list: readonly SessionCommand[];
  /** What those of the workspace stand for. */
  readonly templates: readonly PromptTemplate[];
  /** The list differs from that of the reading before, or there was none. */
  readonly changed: boolean;
}

/** The commands of a session, read anew each time. */
export class SessionCommands {
  #templates: () => Promise<readonly PromptTemplate[]>;
  #reading: Promise<unknown> = Promise.resolve();
  #last: string | undefined;

  /** `templates` reads those of the workspace. Must not reject. */
  constructor(templates: () => Promise<readonly PromptTemplate[]>) {
    this.#templates = templates;
  }

  /** Reads them. One reading after the other, so that the last one is the newest. */
  read(): Promise<CommandReading> {
    const reading = this.#reading.then(() => this.#read());
    this.#reading = reading;
    return reading;
  }

  async #read(): Promise<CommandReading> {
    const templates = (await this.#templates()).filter(({ name }) => !isBuiltin(name));
    const list = [...BUILTIN_COMMANDS, ...templates.map(({ text: _, ...command }) => command)];
    const text = JSON.stringify(list);
    const changed = text !== this.#last;
    this.#last = text;
    return { list, templates, changed };
  }
}
