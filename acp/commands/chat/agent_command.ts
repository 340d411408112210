/** How the agent is started: as this very program. */
import { fileURLToPath } from "node:url";

/** What a process was started from. */
export interface ProgramFacts {
  /** `Deno.execPath()`. */
  readonly execPath: string;
  /** `Deno.mainModule`. */
  readonly mainModule: string;
  /** Whether it is an executable of `deno compile`. */
  readonly standalone: boolean;
  /** Whether Deno has its KV store built in and switched on. */
  readonly hasKv: boolean;
}

/** The command line of the agent; `flags` are the program's own. */
export function agentCommand(facts: ProgramFacts, flags: readonly string[]): readonly string[] {
  const { execPath, mainModule, standalone, hasKv } = facts;
  if (standalone) return [execPath, ...flags];
  const kv = hasKv ? ["--unstable-kv"] : [];
  return [execPath, "run", "-A", ...kv, entry(mainModule), ...flags];
}

/** What a person types to start this program, with its own options. */
export function typedCommand(facts: ProgramFacts, flags: readonly string[]): string {
  const program = entry(facts.mainModule);
  const path = program.startsWith("file:") ? fileURLToPath(program) : program;
  const words = facts.standalone ? ["dsh-acp"] : ["deno", "run", "-A", path];
  return [...words, ...flags].map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A module of JSR is started by its name: as a plain URL it would be no package. */
function entry(mainModule: string): string {
  const [, name, version] = /^https:\/\/jsr\.io\/(@[^/]+\/[^/]+)\/([^/]+)\/mod\.ts$/
    .exec(mainModule) ?? [];
  return name === undefined ? mainModule : `jsr:${name}@${version}`;
}

const PERMISSIONS = ["run", "read", "write", "net", "env", "sys", "ffi"] as const;

/**
 * Whether Deno lets this process do everything. The agent is started with all permissions, so
 * nothing less may start it.
 */
export function mayDoEverything(
  query: (descriptor: Deno.PermissionDescriptor) => Deno.PermissionStatus,
): boolean {
  return PERMISSIONS.every((name) => {
    const { state, partial } = query({ name });
    return state === "granted" && !partial;
  });
}
