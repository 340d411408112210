/** The reference servers of the Model Context Protocol, from npm. */
import type { JsonObject } from "../../tools/json.ts";

const EVERYTHING = "npm:@modelcontextprotocol/server-everything@2026.8.31";
const FILESYSTEM = "npm:@modelcontextprotocol/server-filesystem@2026.8.31";

/** Whether the servers can be had: without npm there is nothing to talk to. */
export async function referenceServers(): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--no-lock", EVERYTHING, FILESYSTEM],
    stdout: "null",
    stderr: "null",
  }).output();
  if (!success) {
    const reason = `skipped: ${EVERYTHING} and ${FILESYSTEM} cannot be fetched from npm\n`;
    Deno.stderr.writeSync(new TextEncoder().encode(reason));
  }
  return success;
}

/** Shows prompts, tools and content of every kind. `mark` tells its process apart. */
export function everything(name: string, mark: string): JsonObject {
  return { name, command: Deno.execPath(), args: everythingArgs("stdio", mark), env: env() };
}

/** The arguments for Deno that run it in one of its modes. */
export function everythingArgs(mode: "stdio" | "sse" | "streamableHttp", mark: string): string[] {
  return ["run", "-A", "--no-lock", "--no-config", EVERYTHING, mode, mark];
}

/** Reads and writes the files of a folder. */
export function filesystem(name: string, folder: string): JsonObject {
  const args = ["run", "-A", "--no-lock", "--no-config", FILESYSTEM, folder];
  return { name, command: Deno.execPath(), args, env: env() };
}

/** Where Deno finds what is cached: the program under test does not know of it. */
function env(): JsonObject[] {
  const value = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  return [{ name: "DENO_DIR", value }];
}
