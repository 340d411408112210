/**
 * A coding agent for editors that speak the Agent Client Protocol (ACP), and its parts for other
 * agents: the bridge, the mapper, the session log, the tools and the bash tool.
 *
 * Started as a program (`deno run -A jsr:@dsh/acp`) it serves ACP on stdin and stdout.
 *
 * The file tools and the bash tool are in `@dsh/acp/tools` and `@dsh/acp/bash`: they are not
 * loaded here, so that the program answers its editor sooner.
 *
 * @module
 */
export * from "./acp/mod.ts";
export * from "./session/mod.ts";
export * from "./tools/tool.ts";
export * from "./tools/tool_registry.ts";
export type * from "./tools/presentation.ts";

if (import.meta.main) {
  const { serve } = await import("./acp/serve.ts");
  await serve();
}
