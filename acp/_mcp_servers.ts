/** The MCP servers of a request, in the session's own terms. */
import type { McpServer as RequestedServer } from "@agentclientprotocol/sdk";
import type { McpServer } from "../tools/mcp/mcp_server.ts";

type Pair = { readonly name: string; readonly value: string };

/** Maps them. What is of another type has been refused, as it was not advertised. */
export function mcpServers(requested: readonly RequestedServer[] | null | undefined): McpServer[] {
  return (requested ?? []).map((server): McpServer => {
    if ("type" in server) {
      const { type, name, url, headers } = server;
      return { type, name, url, headers: record(headers) };
    }
    const { name, command, args, env } = server;
    return { type: "stdio", name, command, args, env: record(env) };
  });
}

function record(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
