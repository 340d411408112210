/** The modules, as paths from this folder: what `deno compile --include` is given. */
export const LATER_MODULES: readonly string[] = [
  "../bash/mod.ts",
  "../session/mod.ts",
  "../tools/mcp/connect_servers.ts",
  "../tools/mod.ts",
  "./_login_catalogue.ts",
  "./_plugins.ts",
  "./_run_command.ts",
];
