/** The plugins of a process: loaded with its first session, used by all. */
import type { ApprovalAnswerer, ApprovalService } from "../session/approval.ts";
import type { ToolRegistry } from "../tools/tool_registry.ts";
import { loadPlugin, type PluginSurroundings } from "./_load_plugins.ts";
import type { Plugin } from "./plugin.ts";

/** Options for {@linkcode Plugins}. */
export interface PluginsOptions extends PluginSurroundings {
  /** As the user named them. */
  readonly names: readonly string[];
  readonly approvals: Pick<ApprovalService, "answer">;
  /** Is told once of each problem. */
  readonly complain: (message: string) => void;
}

interface NamedPlugin {
  readonly name: string;
  readonly plugin: Plugin;
}

/** What is used, and what the user should know. */
interface Opened {
  readonly plugins: readonly NamedPlugin[];
  readonly problems: readonly string[];
}

/** Loads plugins once, and adds them to sessions. */
export class Plugins {
  readonly #options: PluginsOptions;
  readonly #told = new Set<string>();
  #opened: Promise<Opened> | undefined;

  /** Nothing is loaded before {@linkcode Plugins.addTo}. */
  constructor(options: PluginsOptions) {
    this.#options = options;
  }

  /**
   * Adds the tools to those a session has: of each plugin all or none. What is wrong is told to the
   * user in the session, once, and the session goes on without it.
   */
  async addTo(registry: ToolRegistry): Promise<void> {
    const { plugins, problems } = await (this.#opened ??= this.#open());
    const notices = [...problems];
    for (const { name, plugin: { tools = [] } } of plugins) {
      const taken = tools.find((tool) => registry.has(tool.name));
      if (taken === undefined) {
        for (const tool of tools) registry.register(tool);
      } else {
        notices.push(
          `Plugin "${name}": its tools are not used, as another tool is called "${taken.name}" ` +
            "already: give it another name",
        );
      }
    }
    for (const notice of notices) this.#tell(notice);
    if (notices.length > 0) registry.addSource({ settle: () => Promise.resolve(notices) });
  }

  async #open(): Promise<Opened> {
    const { names, approvals } = this.#options;
    const plugins: NamedPlugin[] = [];
    const problems: string[] = [];
    for (const loading of names.map((name) => loadPlugin(name, this.#options))) {
      const loaded = await loading;
      if (loaded.type === "failed") problems.push(loaded.message);
      else plugins.push(loaded);
    }
    // The last one that is added is asked first: the user's order, and the user last of all.
    for (const { name, plugin } of plugins.toReversed()) {
      if (plugin.approve) approvals.answer(this.#answerer(name, plugin.approve));
    }
    return { plugins, problems };
  }

  /** Whatever a plugin does wrong leaves the request to the user. */
  #answerer(name: string, approve: ApprovalAnswerer): ApprovalAnswerer {
    return async (request) => {
      try {
        const answer = await approve(request);
        if (ANSWERS.has(answer)) return answer;
        const known = [...ANSWERS].join(", ");
        this.#tell(`Plugin "${name}": approve must answer one of ${known}; it answered ${answer}`);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#tell(`Plugin "${name}": approve failed: ${reason}`);
      }
      return "delegate";
    };
  }

  #tell(message: string): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#options.complain(message);
  }
}

const ANSWERS: ReadonlySet<unknown> = new Set([
  "allowed_once",
  "allowed_always",
  "rejected",
  "delegate",
]);
