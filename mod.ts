/**
 * A coding agent for editors that speak the Agent Client Protocol (ACP), and its parts for other
 * agents: the bridge, the mapper, the session log, the tools and the bash tool.
 *
 * Started as a program (`deno run -A jsr:@dsh/acp`) it serves ACP on stdin and stdout.
 *
 * @example Serve a stream of your own
 * ```ts ignore
 * import { connectBridge, stdioStream } from "@dsh/acp";
 * ```
 *
 * @module
 */
export * from "./acp/mod.ts";
export * from "./session/mod.ts";
export * from "./tools/mod.ts";

if (import.meta.main) {
  const { serve } = await import("./acp/serve.ts");
  await serve();
}
