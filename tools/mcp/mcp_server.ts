/** What a session is told of an MCP server (Model Context Protocol). */
export type McpServer =
  /** A program that speaks on its stdin and stdout; `env` is set on top of the inherited one. */
  | {
    readonly type: "stdio";
    readonly name: string;
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }
  /** A server at a URL: `http` is Streamable HTTP, `sse` its predecessor. */
  | {
    readonly type: "http" | "sse";
    readonly name: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
