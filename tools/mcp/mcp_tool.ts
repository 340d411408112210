/** A tool of an MCP server as a tool of the session. */
import { type Client, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { z } from "zod";
import { errorResult, type Tool, type ToolResult } from "../tool.ts";
import type { ServerTool } from "./list_tools.ts";
import { printable } from "./printable.ts";
import { cutText, resultContent } from "./result_content.ts";

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
  const { readOnly, description, inputSchema } = tool;
  const title = printable(tool.name);
  return {
    name,
    description,
    parameters,
    inputSchema,
    concurrency: readOnly ? "parallel" : "exclusive",
    authorize: (_args, { policy }) =>
      readOnly || policy.mode === "danger-full-access" ? { type: "allow" } : {
        type: "ask",
        reason: `Call ${title} of the MCP server ${server}`,
        scope: {
          key: `mcp:${JSON.stringify([server, tool.name])}`,
          label: `calls of ${title} of the MCP server ${server}`,
        },
      },
    execute: async (args, { signal }): Promise<ToolResult> => {
      try {
        return resultContent(
          await client.callTool({ name: tool.name, arguments: args }, {
            // Without an output schema: what a server says of its own result is not checked.
            toolDefinition: { name: tool.name, inputSchema: { ...inputSchema, type: "object" } },
            signal,
            timeout: CALL_TIMEOUT,
            resetTimeoutOnProgress: true,
            // Without a listener the server is not asked for progress.
            onprogress: () => {},
          }),
        );
      } catch (error) {
        return errorResult(describe(error));
      }
    },
  };
}

function describe(error: unknown): string {
  // Its message lists all that the result might have been.
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    return "The server's result is not one that the protocol knows";
  }
  return cutText(error instanceof Error ? error.message : String(error));
}
