/** The tools of one session: validation, execution and presentation by name. */
import { z } from "zod";
import type { Json, JsonObject } from "./json.ts";
import type { CallView, ResultView } from "./presentation.ts";
import {
  type Authorization,
  type AuthorizeContext,
  errorResult,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "./tool.ts";

/** A tool as a model provider is told of it. */
export interface ToolDefinition {
  /** What the model calls it. */
  readonly name: string;
  /** When and how to use it. */
  readonly description: string;
  /** JSON Schema (draft 2020-12) of the arguments. */
  readonly inputSchema: JsonObject;
}

/** A call whose tool exists and whose arguments are valid. */
export interface PreparedCall {
  /** Whether it may run beside others. */
  readonly concurrency: "parallel" | "exclusive";
  /** What the tool says; a tool without an opinion allows. */
  authorize(context: AuthorizeContext): Promise<Authorization>;
  /** Never rejects: an exception of the body becomes an error result. */
  execute(context: ToolContext): Promise<ToolResult>;
}

/** A call that can run, or the error result that says why it cannot. */
export type Preparation =
  | { readonly type: "ready"; readonly call: PreparedCall }
  | { readonly type: "invalid"; readonly result: ToolResult };

/** Registers tools while a session runs. */
export interface ToolSource {
  /**
   * Waits a bounded time, at most until `signal` aborts. Never rejects. Resolves with what the
   * user should know, which is shown once.
   */
  settle(signal: AbortSignal): Promise<readonly string[]>;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Holds a session's tools and owns what they own: disposing it ends their processes and files.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { z } from "zod";
 * import { textResult, ToolRegistry } from "@dsh/acp/tools";
 *
 * await using tools = new ToolRegistry();
 * tools.register({
 *   name: "shout",
 *   description: "Repeats the text in capitals.",
 *   parameters: z.object({ text: z.string() }),
 *   execute: (args: { text: string }) => Promise.resolve(textResult(args.text.toUpperCase())),
 * });
 * assertEquals(tools.definitions().map((tool) => tool.name), ["shout"]);
 * assertEquals(tools.presentCall("shout", '{"text":"hi"}').title, "shout");
 * ```
 */
export class ToolRegistry implements AsyncDisposable {
  #tools = new Map<string, Tool>();
  #resources = new AsyncDisposableStack();
  #sources: ToolSource[] = [];

  /**
   * Adds a tool.
   *
   * @throws {TypeError} If the name is not `^[a-zA-Z0-9_-]{1,64}$` or is taken.
   */
  register<Args>(tool: Tool<Args>): this {
    if (!NAME.test(tool.name)) {
      throw new TypeError(
        `Cannot register a tool as its name must match ${NAME.source}: current value is "${tool.name}"`,
      );
    }
    if (this.#tools.has(tool.name)) {
      throw new TypeError(`Cannot register a tool as the name is taken: "${tool.name}"`);
    }
    // A tool only ever receives what its own schema let through.
    this.#tools.set(tool.name, tool as Tool);
    return this;
  }

  /** Takes a tool away again. */
  unregister(name: string): void {
    this.#tools.delete(name);
  }

  /** Adds where tools come from later on. */
  addSource(source: ToolSource): void {
    this.#sources.push(source);
  }

  /** Waits for what the sources are about to add. Resolves with what the user should know of them. */
  async settle(signal: AbortSignal): Promise<string[]> {
    return (await Promise.all(this.#sources.map((source) => source.settle(signal)))).flat();
  }

  /** Runs `release` when the registry is disposed, last registered first. */
  defer(release: () => void | Promise<void>): void {
    this.#resources.defer(release);
  }

  /** Tells whether a tool of this name is registered. */
  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** What a model provider is told, in order of registration. */
  definitions(): ToolDefinition[] {
    return [...this.#tools.values()].map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema ??
        z.toJSONSchema(tool.parameters, { io: "input" }) as JsonObject,
    }));
  }

  /** Looks the tool up and validates its arguments, given as the model wrote them. */
  prepare(name: string, rawArguments: string): Preparation {
    const tool = this.#tools.get(name);
    if (!tool) {
      const known = [...this.#tools.keys()].join(", ");
      return invalid(`There is no tool "${name}". The tools are: ${known || "none"}`);
    }
    const parsed = parseJson(rawArguments);
    if (!parsed.ok) return invalid(`The arguments of ${name} are not JSON: ${parsed.message}`);
    const checked = tool.parameters.safeParse(parsed.value);
    if (!checked.success) {
      return invalid(`The arguments of ${name} are invalid. ${describeIssues(checked.error)}`);
    }
    const args = checked.data;
    return {
      type: "ready",
      call: {
        concurrency: tool.concurrency ?? "exclusive",
        authorize: async (context) => await tool.authorize?.(args, context) ?? { type: "allow" },
        execute: async (context) => {
          try {
            return await tool.execute(args, context);
          } catch (error) {
            return errorResult(error instanceof Error ? error.message : String(error));
          }
        },
      },
    };
  }

  /** How a call looks. Total: whatever is unknown, invalid or throws gets the generic view. */
  presentCall(name: string, rawArguments: string): CallView {
    const presented = this.#present(name, rawArguments, (tool, args) => tool.presentCall?.(args));
    if (presented) return presented;
    const parsed = parseJson(rawArguments);
    return { type: "generic", title: name, rawInput: parsed.ok ? parsed.value : rawArguments };
  }

  /** How a result looks. Total, as {@linkcode ToolRegistry.presentCall} is. */
  presentResult(name: string, rawArguments: string, result: ToolResult): ResultView {
    return this.#present(name, rawArguments, (tool, args) => tool.presentResult?.(args, result)) ??
      { type: "generic" };
  }

  #present<View>(
    name: string,
    rawArguments: string,
    present: (tool: Tool, args: unknown) => View | undefined,
  ): View | undefined {
    const tool = this.#tools.get(name);
    const parsed = parseJson(rawArguments);
    if (!tool || !parsed.ok) return undefined;
    const checked = tool.parameters.safeParse(parsed.value);
    if (!checked.success) return undefined;
    try {
      return present(tool, checked.data);
    } catch {
      // The generic view is the contract for a presenter that throws.
      return undefined;
    }
  }

  /** Ends what the tools own. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

function invalid(message: string): Preparation {
  return { type: "invalid", result: errorResult(message) };
}

function parseJson(text: string): { ok: true; value: Json } | { ok: false; message: string } {
  try {
    // Models send an empty string for a call without arguments.
    return { ok: true, value: JSON.parse(text.trim() === "" ? "{}" : text) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`)
    .join("; ");
}
