/** What MCP servers are given, and whether Deno lets them be used. */
import type { CatalogueConfig } from "../session/model/catalogue_config.ts";
import { PROVIDERS } from "../session/model/known_models.ts";
import type { McpServer } from "../tools/mcp/mcp_server.ts";

/** What is this program's own: its settings, its keys, and loader variables that Deno refuses. */
const WITHHELD = /^(?:DSH_.*|DENO_KV_ACCESS_TOKEN|LD_.*|DYLD_.*)$/i;

/** A key shorter than this is a placeholder, as servers without keys want one. */
const SHORTEST_KEY = 12;

/**
 * The user's environment without this program's own secrets: those it knows by name, and what holds
 * one of `keys` under whatever name.
 */
export function serverEnvironment(
  env: Readonly<Record<string, string>>,
  keys: readonly string[] = [],
): Record<string, string> {
  const names = new Set<string>(Object.values(PROVIDERS).map(({ keyVariable }) => keyVariable));
  const values = new Set(keys.filter((key) => key.length >= SHORTEST_KEY));
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) =>
      !WITHHELD.test(name) && !names.has(name) && !values.has(value.trim())
    ),
  );
}

/** The keys of the configured models. */
export function modelKeys({ providers }: Pick<CatalogueConfig, "providers">): string[] {
  return Object.values(providers).flatMap(({ key }) => key ? [key.reveal()] : []);
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
  const url = URL.parse(server.url);
  if (!url || !/^https?:$/.test(url.protocol)) {
    return `url must be an http or https URL: current value is "${server.url}"`;
  }
  const { host } = url;
  if (granted({ name: "net", host })) return undefined;
  return `was not connected: reaching ${host} is not granted; add it to --allow-net`;
}
