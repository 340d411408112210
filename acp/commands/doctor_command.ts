/** `doctor`: looks at what the agent needs and says what is missing. Changes nothing. */
import { findProgram } from "../../tools/find_program.ts";
import { canRunCommands, containmentNotice, type FoundRunner } from "../_containment_notice.ts";
import type { Grants, PermissionQuery } from "../_grants.ts";
import type { Settings } from "../settings.ts";
import { checkModels } from "./_check_models.ts";
import { checkDataFolder, checkStore } from "./_check_store.ts";
import { type Finding, renderFinding, withDeadline } from "./_finding.ts";

/** What the doctor looks at. */
export interface DoctorSurroundings {
  /** The settings, or what is wrong with them. */
  readonly settings:
    | { readonly type: "valid"; readonly settings: Settings }
    | { readonly type: "invalid"; readonly message: string };
  /** `--model`, whatever the other settings are. */
  readonly model: string | undefined;
  /** The environment, as far as it may be read. */
  readonly env: Readonly<Record<string, string>>;
  readonly os: typeof Deno.build.os;
  readonly denoVersion: string;
  readonly version: string;
  readonly granted: PermissionQuery;
  readonly grants: Grants;
  /** Folders whose programs are not trusted. */
  readonly avoid: readonly string[];
  /** Looks for the sandbox by running it. */
  readonly probe: () => Promise<FoundRunner>;
  /** Writes text to stdout. */
  readonly print: (text: string) => void;
  /** Writes one line for a person to stderr. */
  readonly complain: (message: string) => void;
}

/** The longest wait for one check, in milliseconds. A remote store has its own, shorter one. */
const CHECK_MS = 12_000;

/** Prints one line per check. Resolves with 1 where one failed. */
export async function doctorCommand(
  args: readonly string[],
  surroundings: DoctorSurroundings,
): Promise<number> {
  if (args.length > 0) {
    surroundings.complain(`doctor takes no arguments; got "${args[0]}"`);
    return 2;
  }
  const { settings, grants, env, model, granted } = surroundings;
  const checks: readonly Promise<readonly Finding[]>[] = [
    one("program", () => Promise.resolve(version(surroundings))),
    one("permissions", () => Promise.resolve(permissions(surroundings))),
    one("commands", () => commands(surroundings)),
    one("search", () => search(surroundings)),
    ...settings.type === "invalid"
      ? [one("settings", () => Promise.resolve(failed("settings", settings.message)))]
      : [
        one("data folder", () => checkDataFolder(settings.settings, grants)),
        one("sessions", () => checkStore(settings.settings, grants)),
      ],
    checkModels(env, model, granted, settings.type === "valid" ? settings.settings : undefined),
  ];
  let ok = true;
  // In order, each as soon as it is known.
  for (const check of checks) {
    for (const finding of await check) {
      surroundings.print(renderFinding(finding));
      ok &&= finding.level !== "fail";
    }
  }
  return ok ? 0 : 1;
}

async function one(name: string, check: () => Promise<Finding>): Promise<readonly Finding[]> {
  return [await withDeadline(name, CHECK_MS, check)];
}

function version({ version, denoVersion, os }: DoctorSurroundings): Finding {
  return { level: "ok", name: "program", text: `dsh-acp ${version}, Deno ${denoVersion}, ${os}` };
}

function permissions({ granted, grants }: DoctorSurroundings): Finding {
  const name = "permissions";
  if (!granted({ name: "read" })) {
    return failed(name, "Deno does not let it read every file: add --allow-read");
  }
  const noEnv = granted({ name: "env", variable: "HOME" })
    ? ""
    : ". Environment variables are not seen: add --allow-env";
  const level = noEnv === "" ? "ok" : "warn";
  if (grants.noFullAccess === undefined) {
    const text = "everything: commands may leave the sandbox when you agree, and full access " +
      `can be chosen${noEnv}`;
    return { level, name, text };
  }
  const text = grants.runner || grants.bareBash
    ? `full access is not offered, as ${grants.noFullAccess}`
    : "read-only review: it reads and searches, and runs nothing";
  return { level, name, text: `${text}${noEnv}` };
}

async function commands({ grants, os, probe }: DoctorSurroundings): Promise<Finding> {
  const name = "commands";
  if (os === "windows") return { level: "warn", name, text: "there is no bash on Windows yet" };
  const found: FoundRunner = grants.runner || grants.bareBash
    ? await probe()
    : { type: "none", reason: "", advice: "" };
  const text = containmentNotice(grants, found).replace(/^commands: /, "");
  const fenced = canRunCommands(grants, found) && found.type !== "none";
  return { level: fenced ? "ok" : "warn", name, text };
}

async function search({ env, granted, avoid }: DoctorSurroundings): Promise<Finding> {
  const name = "search";
  const without = "files are searched without it, which is slower";
  if (!granted({ name: "run", command: "rg" })) {
    return {
      level: "warn",
      name,
      text: `Deno may not start ripgrep: ${without}. Install it and add --allow-run=rg`,
    };
  }
  const program = findProgram("rg", env["PATH"] ?? "", avoid);
  const text = `ripgrep is not installed: ${without}. Install ripgrep`;
  if (program === undefined) return { level: "warn", name, text };
  try {
    const { success, stdout } = await new Deno.Command(program, {
      args: ["--version"],
      stdin: "null",
      stderr: "null",
      clearEnv: true,
      signal: AbortSignal.timeout(5_000),
    }).output();
    const first = new TextDecoder().decode(stdout).split("\n")[0] ?? "";
    if (success) return { level: "ok", name, text: first };
    return { level: "warn", name, text: `"${program}" does not work: ${without}` };
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? text : `ripgrep: ${error}`;
    return { level: "warn", name, text: reason };
  }
}

function failed(name: string, text: string): Finding {
  return { level: "fail", name, text };
}
