/** A folder with file tools that work in it, for one test. */
import { fileTools } from "../../tools/file_tools.ts";
import type { ResultView } from "../../tools/presentation.ts";
import type { SandboxMode, SandboxPolicy } from "../../tools/sandbox_policy.ts";
import type { Authorization, ToolResult } from "../../tools/tool.ts";
import { ToolRegistry } from "../../tools/tool_registry.ts";

export interface WorkspaceOptions {
  readonly ripgrep?: string;
}

export class Workspace implements AsyncDisposable {
  /** Real, absolute. Its parent belongs to the test too. */
  readonly cwd: string;
  readonly outside: string;
  readonly tools: ToolRegistry = new ToolRegistry();
  policy: SandboxPolicy;
  signal: AbortSignal = new AbortController().signal;
  #base: string;

  private constructor(base: string, options: WorkspaceOptions) {
    this.#base = base;
    this.cwd = `${base}/work`;
    this.outside = `${base}/outside`;
    this.policy = policy("workspace-write", [this.cwd]);
    for (const tool of fileTools(options)) this.tools.register(tool);
  }

  static async open(options: WorkspaceOptions = {}): Promise<Workspace> {
    const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "dsh tools ü-" }));
    const workspace = new Workspace(base, options);
    await Deno.mkdir(workspace.cwd);
    await Deno.mkdir(workspace.outside);
    return workspace;
  }

  path(name: string): string {
    return `${this.cwd}/${name}`;
  }

  async put(name: string, content: string | Uint8Array): Promise<void> {
    const path = this.path(name);
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
  }

  get(name: string): Promise<string> {
    return Deno.readTextFile(this.path(name));
  }

  /** Runs a call through validation, as the agent does. */
  async call(name: string, args: object, cwd: string = this.cwd): Promise<ToolResult> {
    const prepared = this.tools.prepare(name, JSON.stringify(args));
    if (prepared.type === "invalid") return prepared.result;
    return await prepared.call.execute({
      sessionId: "session",
      callId: crypto.randomUUID(),
      cwd,
      signal: this.signal,
      policy: this.policy,
      output: () => {},
    });
  }

  /** Asks whether a call may run. */
  async authorize(name: string, args: object): Promise<Authorization> {
    const prepared = this.tools.prepare(name, JSON.stringify(args));
    if (prepared.type === "invalid") throw new Error(textOf(prepared.result));
    const { cwd, policy } = this;
    return await prepared.call.authorize({ sessionId: "session", callId: "call", cwd, policy });
  }

  /** Runs a call and gives the text of its result. Errors start with `Error: `. */
  async text(name: string, args: object): Promise<string> {
    return textOf(await this.call(name, args));
  }

  /** Runs a call and gives the view of its result. */
  async view(name: string, args: object): Promise<ResultView> {
    const result = await this.call(name, args);
    return this.tools.presentResult(name, JSON.stringify(args), result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tools[Symbol.asyncDispose]();
    await Deno.remove(this.#base, { recursive: true });
  }
}

export function policy(
  mode: SandboxMode,
  writableRoots: readonly string[] = [],
  protectedPaths: readonly string[] = [],
): SandboxPolicy {
  return { mode, writableRoots, protectedPaths, network: "on", enforcement: "sandbox" };
}

export function textOf(result: ToolResult): string {
  return result.content.map((part) => part.type === "text" ? part.text : `[${part.mimeType}]`)
    .join("\n");
}
