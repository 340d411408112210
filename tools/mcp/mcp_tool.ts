/** A tool of an MCP server as a tool of the session. */
import type { Client, Tool as ServerTool } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { JsonObject } from "../json.ts";
import type { Tool } from "../tool.ts";
import { resultContent } from "./result_content.ts";

/** How long a call may be silent, in ms: its progress messages start the time anew. */
const CALL_TIMEOUT = 600_000;

// The server checks its own arguments; it alone knows its schema's dialect.
const parameters = z.record(z.string(), z.unknown());

/**
 * Makes the tool. It has no presenters: a session is replayed before its servers are connected,
 * and must look the same.
 */
export function mcpTool(
  name: string,
  server: string,
  client: Pick<Client, "callTool">,
  tool: ServerTool,
): Tool<Record<string, unknown>> {
  const readOnly = tool.annotations?.readOnlyHint === true;
  return {
    name,
    description: tool.description ?? tool.title ?? tool.name,
    parameters,
    inputSchema: tool.inputSchema as JsonObject,
    concurrency: readOnly ? "parallel" : "exclusive",
    authorize: (_args, { policy }) =>
      readOnly || policy.mode === "danger-full-access" ? { type: "allow" } : {
        type: "ask",
        reason: `Call ${tool.name} of the MCP server ${server}`,
        scope: {
          key: `mcp:${JSON.stringify([server, tool.name])}`,
          label: `calls of ${tool.name} of the MCP server ${server}`,
        },
      },
    execute: async (args, { signal }) =>
      resultContent(
        await client.callTool({ name: tool.name, arguments: args }, {
          signal,
          timeout: CALL_TIMEOUT,
          resetTimeoutOnProgress: true,
          // Without a listener the server is not asked for progress.
          onprogress: () => {},
        }),
      ),
  };
}
