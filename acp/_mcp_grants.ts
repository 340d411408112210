/** What MCP servers are given, and whether Deno lets them be used. */
import { PROVIDERS } from "../session/model/known_models.ts";
import type { McpServer } from "../tools/mcp/mcp_server.ts";

/** What is this program's own: its settings, its keys, and loader variables that Deno refuses. */
const WITHHELD = /^(?:DSH_.*|DENO_KV_ACCESS_TOKEN|LD_.*|DYLD_.*)$/i;

/** The user's environment without this program's own secrets. */
export function serverEnvironment(
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const keys = new Set<string>(Object.values(PROVIDERS).map(({ keyVariable }) => keyVariable));
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !WITHHELD.test(name) && !keys.has(name)),
  );
}

/** Why a server cannot be used here, or undefined. */
export function serverProblem(
  server: McpServer,
  granted: (descriptor: Deno.PermissionDescriptor) => boolean,
): string | undefined {
  if (server.type === "stdio") {
    const { command } = server;
    if (granted({ name: "run", command })) return undefined;
    return `was not started: running "${command}" is not granted; add it to --allow-run`;
  }
  if (!URL.canParse(server.url)) {
    return `url must be an absolute URL: current value is "${server.url}"`;
  }
  const { host } = new URL(server.url);
  if (granted({ name: "net", host })) return undefined;
  return `was not connected: reaching ${host} is not granted; add it to --allow-net`;
}
