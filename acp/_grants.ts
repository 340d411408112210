/** What Deno lets this process do: asked once, at the edge, and never by prompting. */
import { KNOWN_VARIABLES } from "./_environment.ts";

/**
 * Tells whether a permission is granted. Only a plain "granted" counts: Deno answers `prompt` for
 * what is not granted even where it will never prompt.
 */
export type PermissionQuery = (descriptor: Deno.PermissionDescriptor) => boolean;

/** What the tools and presets can build on. */
export interface Grants {
  /** Whether the sandbox runner of this system may be started. */
  readonly runner: boolean;
  /** Whether bash may be started by itself. */
  readonly bareBash: boolean;
  /** Why the preset of full access cannot be honoured, or undefined where it can. */
  readonly noFullAccess: string | undefined;
  /** Whether a path, and what is below it, may be written to. */
  canWrite(path: string): boolean;
}

/** Reads the grants. Nothing is asked of the user. */
export function readGrants(granted: PermissionQuery, os: typeof Deno.build.os): Grants {
  const runner = granted({
    name: "run",
    command: os === "darwin" ? "/usr/bin/sandbox-exec" : "bwrap",
  });
  const bareBash = granted({ name: "run", command: "bash" });
  const missing = [
    ...bareBash ? [] : ["--allow-run (for bash itself, not only for its sandbox)"],
    ...granted({ name: "write" }) ? [] : ["--allow-write (without a list)"],
  ];
  return {
    runner,
    bareBash,
    noFullAccess: missing.length > 0 ? `Deno needs ${missing.join(" and ")}` : undefined,
    canWrite: (path) => granted({ name: "write", path }),
  };
}

/** Where the environment comes from. */
export interface EnvironmentSource {
  all(): Record<string, string>;
  get(name: string): string | undefined;
}

/**
 * The environment as far as it is granted: all of it, or else the names the program knows. Reading
 * a name that is not granted would fail.
 */
export function readEnvironment(
  granted: PermissionQuery,
  source: EnvironmentSource,
): Record<string, string> {
  if (granted({ name: "env" })) return source.all();
  const env: Record<string, string> = {};
  for (const variable of KNOWN_VARIABLES) {
    const value = granted({ name: "env", variable }) ? source.get(variable) : undefined;
    if (value !== undefined) env[variable] = value;
  }
  return env;
}
