/** The modules, as paths from this folder: what `deno compile --include` is given. */
export const LATER_MODULES: readonly string[] = [
  "../bash/mod.ts",
  "../session/mod.ts",
  "../tools/mcp/connect_servers.ts",
  "../tools/mod.ts",
  "./_login_catalogue.ts",
  "./commands/chat/run_chat.ts",
  "./commands/completions_command.ts",
  "./commands/doctor_command.ts",
  "./commands/run_program_command.ts",
  "./commands/run_store_command.ts",
];
