/** The scripted MCP server of `tests/fixtures`, as an editor would configure it. */
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../tools/json.ts";

const PROGRAM = fileURLToPath(new URL("../fixtures/mcp_server.ts", import.meta.url));

/** What it can be: see the fixture. */
export type FixtureMode =
  | "plain"
  | "many"
  | "odd"
  | "pages"
  | "late"
  | "stubborn"
  | "loud"
  | "endless"
  | "deaf";

/** A server of this name. `mark` tells its process apart. */
export function fixtureServer(
  name: string,
  mode: FixtureMode = "plain",
  mark: string = crypto.randomUUID(),
): JsonObject {
  const args = ["run", "-A", "--no-lock", "--no-config", "--quiet", PROGRAM, mode, mark];
  return { name, command: Deno.execPath(), args, env: [] };
}
