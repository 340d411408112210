/** Connects a session to its MCP servers, and keeps its tools in step with theirs. */
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { ToolRegistry } from "../tool_registry.ts";
import { listTools, MOST_TOOLS, type ServerTool } from "./list_tools.ts";
import { makeTransport, type TransportOptions } from "./make_transport.ts";
import type { McpServer } from "./mcp_server.ts";
import { mcpTool } from "./mcp_tool.ts";
import { mcpToolName } from "./names.ts";
import { printable } from "./printable.ts";
import { ProcessTransport } from "./process_transport.ts";

/** What the servers are connected with. */
export interface McpOptions extends TransportOptions {
  /** What the servers are told of this program. */
  readonly version: string;
  /** Why a server cannot be used here, or undefined. */
  readonly problem: (server: McpServer) => string | undefined;
}

/** How long a server may take until its tools are listed, in ms. */
const CONNECT_TIMEOUT = 60_000;

/** How long a turn waits for servers, in ms, counted from the start of the session. */
const TURN_WAIT = 10_000;

/** How long a server at a URL has to hear that the session is over, in ms. */
const GOODBYE = 1_000;

/** How many things about the servers the user is told in one session. */
const MOST_NOTICES = 100;

/** Starts connecting and returns. The registry owns the connections. */
export function connectServers(
  registry: ToolRegistry,
  servers: readonly McpServer[],
  options: McpOptions,
): void {
  const closing = new AbortController();
  const notices = new Set<string>();
  const connecting = new Set<Connection>();
  const late = new Set<Connection>();
  const room = { tools: MOST_TOOLS };
  const notice = ({ name }: McpServer, text: string) => {
    if (closing.signal.aborted || notices.size >= MOST_NOTICES) return;
    notices.add(`MCP server "${name}": ${text}.`);
  };
  for (const [index, server] of servers.entries()) {
    // What is always allowed is allowed by name, so a name must not stand for two.
    if (servers.findIndex(({ name }) => name === server.name) < index) {
      notice(server, "was not connected: another one has the same name");
      continue;
    }
    connecting.add(new Connection(registry, server, options, room, (text) => notice(server, text)));
  }
  const connections = [...connecting];
  const opened = Promise.all(connections.map(async (connection) => {
    await connection.open(closing.signal);
    connecting.delete(connection);
    if (late.has(connection) && connection.isOpen) {
      notice(connection.server, "is connected now; its tools can be used");
    }
  }));
  const waited = AbortSignal.any([AbortSignal.timeout(TURN_WAIT), closing.signal]);
  const slow = aborted(waited);
  registry.addSource({
    async settle(signal) {
      await Promise.race([opened, slow, aborted(signal)]);
      if (signal.aborted) return [];
      for (const connection of connecting) {
        late.add(connection);
        notice(connection.server, "not connected yet; its tools come when it is");
      }
      return [...notices];
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
  /** What all connections share. */
  #room: { tools: number };
  #notice: (text: string) => void;
  #client: Client;
  #transport: Transport | undefined;
  #names: string[] = [];
  #open = false;

  constructor(
    registry: ToolRegistry,
    server: McpServer,
    options: McpOptions,
    room: { tools: number },
    notice: (text: string) => void,
  ) {
    this.server = server;
    this.#registry = registry;
    this.#options = options;
    this.#room = room;
    this.#notice = notice;
    this.#client = new Client({ name: "dsh-acp", version: options.version }, {
      listChanged: { tools: { autoRefresh: false, onChanged: () => void this.#changed() } },
    });
    this.#client.onclose = () => this.#closed();
    this.#client.onerror = (error) =>
      options.log?.(`MCP server "${server.name}": ${messageOf(error)}`);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Never rejects: what goes wrong is a notice. */
  async open(closing: AbortSignal): Promise<void> {
    const problem = this.#options.problem(this.server);
    if (problem !== undefined) return this.#notice(problem);
    const signal = AbortSignal.any([closing, AbortSignal.timeout(CONNECT_TIMEOUT)]);
    let connected = false;
    try {
      this.#transport = makeTransport(this.server, this.#options);
      const limits = { signal, timeout: CONNECT_TIMEOUT };
      await this.#client.connect(this.#transport, limits);
      this.#open = connected = true;
      if (this.#client.getServerCapabilities()?.tools) await this.#list(signal);
    } catch (error) {
      // One that ended meanwhile has been reported.
      if (!connected || this.#open) {
        this.#notice(`could not be connected: ${messageOf(error)}${this.#reason}`);
      }
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
    this.#notice(`ended${this.#reason}; its tools are gone until the session is opened again`);
  }

  async #changed(): Promise<void> {
    if (!this.#open) return;
    try {
      await this.#list(AbortSignal.timeout(CONNECT_TIMEOUT));
    } catch (error) {
      if (!this.#open) return;
      this.#notice(`its tools changed and could not be listed: ${messageOf(error)}`);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const listing = await listTools(this.#client, { signal, timeout: CONNECT_TIMEOUT });
    if (!this.#open) return;
    this.#replaceTools([]);
    const tools = listing.tools.slice(0, this.#room.tools);
    this.#replaceTools(tools);
    for (const problem of listing.problems) this.#notice(problem);
    if (listing.more || tools.length < listing.tools.length) {
      const limit = `the servers of a session may have ${MOST_TOOLS} together`;
      this.#notice(`it offers more tools than can be used; ${limit}, so ${tools.length} are`);
    }
  }

  /** What a transport knows of its end, in brackets; or nothing. */
  get #reason(): string {
    const reason = this.#transport instanceof ProcessTransport
      ? this.#transport.endedBy
      : undefined;
    return reason === undefined ? "" : ` (${printable(reason)})`;
  }

  #replaceTools(tools: readonly ServerTool[]): void {
    for (const name of this.#names) this.#registry.unregister(name);
    this.#room.tools += this.#names.length - tools.length;
    this.#names = [];
    for (const tool of tools) {
      const name = mcpToolName(this.server.name, tool.name, (one) => this.#registry.has(one));
      this.#registry.register(mcpTool(name, this.server.name, this.#client, tool));
      this.#names.push(name);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

function messageOf(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error));
}
