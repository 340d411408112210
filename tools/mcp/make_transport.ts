/** How a server is reached. */
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { boundedFetch } from "./bounded_fetch.ts";
import type { McpServer } from "./mcp_server.ts";
import { ProcessTransport } from "./process_transport.ts";
import { serverProgram } from "./server_program.ts";

/** What server processes are started with. */
export interface TransportOptions {
  /** Where they start, absolute. */
  readonly cwd: string;
  /** Absolute folders that commands may write to: bare commands are not looked up there. */
  readonly avoid: readonly string[];
  /** What they inherit. */
  readonly env: Readonly<Record<string, string>>;
  /** Receives what they write to stderr, and what goes wrong with a server otherwise. */
  readonly log?: (text: string) => void;
}

/**
 * Makes the transport; nothing is started yet.
 *
 * @throws {Error} If there is no such program.
 */
export function makeTransport(
  server: McpServer,
  { cwd, avoid, env, log }: TransportOptions,
): Transport {
  switch (server.type) {
    case "stdio": {
      const environment = { ...env, ...server.env };
      const program = serverProgram(server.command, {
        path: environment["PATH"] ?? "",
        cwd,
        avoid,
      });
      if (program === undefined) {
        throw new Error(`there is no program "${server.command}" on the PATH`);
      }
      return new ProcessTransport({
        command: program,
        args: server.args,
        env: environment,
        cwd,
        ...(log && { log }),
      });
    }
    case "http":
      return new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: server.headers },
        fetch: boundedFetch,
      }) as Transport;
    case "sse":
      return new SSEClientTransport(new URL(server.url), {
        requestInit: { headers: server.headers },
        fetch: boundedFetch,
      });
    default:
      return server satisfies never;
  }
}
