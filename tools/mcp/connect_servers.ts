/** Connects a session to its MCP servers, and keeps its tools in step with theirs. */
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Tool as ServerTool,
  type Transport,
} from "@modelcontextprotocol/client";
import type { ToolRegistry } from "../tool_registry.ts";
import type { McpServer } from "./mcp_server.ts";
import { mcpTool } from "./mcp_tool.ts";
import { mcpToolName } from "./names.ts";
import { ProcessTransport } from "./process_transport.ts";

/** What the servers are connected with. */
export interface McpOptions {
  /** Where server processes start, absolute. */
  readonly cwd: string;
  /** What server processes inherit. */
  readonly env: Readonly<Record<string, string>>;
  /** What the servers are told of this program. */
  readonly version: string;
  /** Why a server cannot be used here, or undefined. */
  readonly problem: (server: McpServer) => string | undefined;
  /** Receives what server processes write to stderr. */
  readonly log?: (text: string) => void;
}

/** How long a server may take until its tools are listed, in ms. */
const CONNECT_TIMEOUT = 60_000;

/** How long a turn waits for servers, in ms, counted from the start of the session. */
const TURN_WAIT = 10_000;

/** How long a server at a URL has to hear that the session is over, in ms. */
const GOODBYE = 1_000;

/** Starts connecting and returns. The registry owns the connections. */
export function connectServers(
  registry: ToolRegistry,
  servers: readonly McpServer[],
  options: McpOptions,
): void {
  const closing = new AbortController();
  const notices: string[] = [];
  const connecting = new Set(servers);
  const connections = servers.map((server) =>
    new Connection(registry, server, options, (text) => {
      if (!closing.signal.aborted) notices.push(`MCP server "${server.name}": ${text}.`);
    })
  );
  const opened = Promise.all(connections.map(async (connection) => {
    await connection.open(closing.signal);
    connecting.delete(connection.server);
  }));
  const waited = AbortSignal.any([AbortSignal.timeout(TURN_WAIT), closing.signal]);
  const slow = aborted(waited);
  registry.addSource({
    async settle(signal) {
      await Promise.race([opened, slow, aborted(signal)]);
      if (signal.aborted) return [];
      const late = [...connecting].map(({ name }) =>
        `MCP server "${name}": not connected yet; its tools come when it is.`
      );
      return [...notices, ...late];
    },
  });
  registry.defer(async () => {
    closing.abort();
    await Promise.all(connections.map((connection) => connection.close()));
  });
}

class Connection {
  readonly server: McpServer;
  #registry: ToolRegistry;
  #options: McpOptions;
  #notice: (text: string) => void;
  #client: Client;
  #transport: Transport | undefined;
  #names: string[] = [];
  #open = false;

  constructor(
    registry: ToolRegistry,
    server: McpServer,
    options: McpOptions,
    notice: (text: string) => void,
  ) {
    this.server = server;
    this.#registry = registry;
    this.#options = options;
    this.#notice = notice;
    this.#client = new Client({ name: "dsh-acp", version: options.version }, {
      listChanged: { tools: { onChanged: (error, tools) => this.#changed(error, tools) } },
    });
    this.#client.onclose = () => this.#closed();
  }

  /** Never rejects: what goes wrong is a notice. */
  async open(closing: AbortSignal): Promise<void> {
    const problem = this.#options.problem(this.server);
    if (problem !== undefined) return this.#notice(problem);
    const signal = AbortSignal.any([closing, AbortSignal.timeout(CONNECT_TIMEOUT)]);
    try {
      this.#transport = makeTransport(this.server, this.#options);
      const limits = { signal, timeout: CONNECT_TIMEOUT };
      await this.#client.connect(this.#transport, limits);
      const { tools } = this.#client.getServerCapabilities()?.tools
        ? await this.#client.listTools(undefined, limits)
        : { tools: [] };
      if (closing.aborted) return;
      this.#open = true;
      this.#replaceTools(tools);
    } catch (error) {
      this.#notice(`could not be connected: ${messageOf(error)}`);
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#open = false;
    if (this.#transport instanceof StreamableHTTPClientTransport) {
      const ended = this.#transport.terminateSession().catch(() => {
        // It ends by the server's own clock then.
      });
      await Promise.race([ended, aborted(AbortSignal.timeout(GOODBYE))]);
    }
    await this.#transport?.close();
    await this.#client.close();
  }

  #closed(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#replaceTools([]);
    this.#notice("ended; its tools are gone");
  }

  #changed(error: Error | null, tools: ServerTool[] | null): void {
    if (!this.#open) return;
    if (tools) this.#replaceTools(tools);
    else this.#notice(`its tools changed and could not be listed: ${messageOf(error)}`);
  }

  #replaceTools(tools: readonly ServerTool[]): void {
    for (const name of this.#names) this.#registry.unregister(name);
    this.#names = [];
    for (const tool of tools) {
      const name = mcpToolName(this.server.name, tool.name, (one) => this.#registry.has(one));
      this.#registry.register(mcpTool(name, this.server.name, this.#client, tool));
      this.#names.push(name);
    }
  }
}

function makeTransport(server: McpServer, { cwd, env, log }: McpOptions): Transport {
  switch (server.type) {
    case "stdio":
      return new ProcessTransport({
        command: server.command,
        args: server.args,
        env: { ...env, ...server.env },
        cwd,
        ...(log && { log }),
      });
    case "http":
      return new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: server.headers },
      }) as Transport;
    case "sse":
      return new SSEClientTransport(new URL(server.url), {
        requestInit: { headers: server.headers },
      });
    default:
      return server satisfies never;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
