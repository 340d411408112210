/** What a person sets by flags and environment variables: read once, here, and passed in. */
import { type CommandName, COMMANDS, OPTIONS } from "./_command_line.ts";
import { Secret } from "../session/model/secret.ts";

/** The settings of one run of the program. */
export interface Settings {
  /** The session store: a file path, or the https URL of a KV Connect server. */
  readonly kv: string;
  /** The access token of that server. */
  readonly kvToken: Secret | undefined;
  /** How long one call to that server may take, in milliseconds. */
  readonly kvTimeoutMs: number;
  /** The agent's own folder, absolute; it stays read-only for everything the model runs. */
  readonly dataDirectory: string;
  /** `provider/model`; overrides `DSH_MODEL`. */
  readonly model: string | undefined;
  /** The id of the permission preset that sessions start with. */
  readonly permissionMode: string;
  /** Whether commands reach the network. */
  readonly network: "on" | "off";
  /** Whether the model may fetch web pages, and from where: only the public internet, or any. */
  readonly webFetch: "public" | "any" | "off";
  /** Modules with tools of the user's own: paths, or specifiers that Deno resolves. */
  readonly plugins: readonly string[];
  /** How long a question to the user stays open, in milliseconds. */
  readonly questionTimeoutMs: number;
  /** Whether to write a log to stderr. */
  readonly debug: boolean;
}

/** What the command line asks for. */
export type Invocation =
  | { readonly type: "serve"; readonly settings: Settings }
  /** `args` is what follows the command's name, without the options of all commands. */
  | {
    readonly type: "command";
    readonly name: StoreCommandName | "chat";
    readonly args: readonly string[];
    /** The options of all commands, as another process of the program can be given them. */
    readonly flags: readonly string[];
    readonly settings: Settings;
  }
  /** A command that is about the program itself. */
  | {
    readonly type: "program";
    readonly name: ProgramCommandName;
    readonly args: readonly string[];
    readonly settings: Settings;
  }
  /** `doctor` looks at the settings too: here they may be invalid. */
  | {
    readonly type: "doctor";
    readonly args: readonly string[];
    readonly model: string | undefined;
    readonly settings: ReadSettings;
  }
  /** Printed, whatever the settings are. */
  | { readonly type: "completions"; readonly args: readonly string[] }
  | { readonly type: "help" }
  | { readonly type: "version" }
  /** `message` names the flag or variable, the rule and the value. */
  | { readonly type: "invalid"; readonly message: string };

/** What is asked for instead of serving. */
export type CommandInvocation = Extract<
  Invocation,
  { type: "command" | "program" | "doctor" | "completions" }
>;

/** The settings, or why there are none. */
type ReadSettings =
  | { readonly type: "valid"; readonly settings: Settings }
  | { readonly type: "invalid"; readonly message: string };

/** Where the platform keeps things, as the program found it. */
export interface Surroundings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly os: typeof Deno.build.os;
}

/** The commands that look after the store. */
export type StoreCommandName = "export" | "import" | "prune" | "repair";

/** The commands that are about the program itself. */
export type ProgramCommandName = "login" | "logout";

const PERMISSION_MODES = OPTIONS["--permission-mode"].choices;

/** Reads the command line and the environment. Flags win. */
export function readSettings({ args, env, os }: Surroundings): Invocation {
  const flags = new Map<string, string[]>();
  const command: { name?: CommandName; args: string[] } = { args: [] };
  for (let index = 0; index < args.length; index++) {
    // What follows `--` belongs to the command, whatever it looks like.
    if (command.name !== undefined && args[index] === "--") {
      command.args.push(...args.slice(index));
      break;
    }
    const [name = "", inline] = splitFlag(args[index]!);
    if (name === "--help" || name === "-h") return { type: "help" };
    if (name === "--version" || name === "-V") return { type: "version" };
    if (command.name === undefined && isCommand(name)) {
      command.name = name;
      continue;
    }
    if (!Object.hasOwn(OPTIONS, name)) {
      if (command.name !== undefined) {
        command.args.push(args[index]!);
        continue;
      }
      return invalid(
        name.startsWith("-")
          ? `unknown option "${args[index]}"; --help lists the options`
          : `unknown command "${args[index]}"; --help lists the commands`,
      );
    }
    const value = inline ?? args[++index];
    if (value === undefined || value === "") return invalid(`${name} needs a value`);
    flags.set(name, [...flags.get(name) ?? [], value]);
  }
  const { name, args: rest } = command;
  if (name === "completions") return { type: "completions", args: rest };
  const settings = settingsOf(flags, env, os);
  if (name === "doctor") {
    return { type: "doctor", args: rest, model: flags.get("--model")?.at(-1), settings };
  }
  if (settings.type === "invalid") return settings;
  if (name === undefined) return { type: "serve", settings: settings.settings };
  if (name === "login" || name === "logout") {
    return { type: "program", name, args: rest, settings: settings.settings };
  }
  return {
    type: "command",
    name,
    args: rest,
    flags: [...flags].flatMap(([name, values]) => values.map((value) => `${name}=${value}`)),
    settings: settings.settings,
  };
}

function settingsOf(
  flags: ReadonlyMap<string, readonly string[]>,
  env: Surroundings["env"],
  os: Surroundings["os"],
): ReadSettings {
  const flag = (name: keyof typeof OPTIONS) => flags.get(name)?.at(-1);
  const permissionMode = flag("--permission-mode") ??
    (env["DSH_PERMISSION_MODE"] || PERMISSION_MODES[0]!);
  if (!PERMISSION_MODES.includes(permissionMode)) {
    return invalid(
      `--permission-mode (DSH_PERMISSION_MODE) must be ${
        PERMISSION_MODES.join(" or ")
      }; got "${permissionMode}"`,
    );
  }
  const network = flag("--sandbox-network") ?? (env["DSH_SANDBOX_NETWORK"] || "on");
  if (network !== "on" && network !== "off") {
    return invalid(`--sandbox-network (DSH_SANDBOX_NETWORK) must be on or off; got "${network}"`);
  }
  const webFetch = env["DSH_WEB_FETCH"] || "public";
  if (webFetch !== "public" && webFetch !== "any" && webFetch !== "off") {
    return invalid(`DSH_WEB_FETCH must be public, any or off; got "${webFetch}"`);
  }
  const questionTimeout = Number(env["DSH_QUESTION_TIMEOUT"] || 600);
  if (!Number.isInteger(questionTimeout) || questionTimeout < 1 || questionTimeout > 86_400) {
    return invalid(
      "DSH_QUESTION_TIMEOUT must be a whole number of seconds from 1 to 86400; " +
        `got "${env["DSH_QUESTION_TIMEOUT"]}"`,
    );
  }
  const kvTimeout = Number(env["DSH_KV_TIMEOUT"] || 10);
  if (!Number.isInteger(kvTimeout) || kvTimeout < 1 || kvTimeout > 600) {
    return invalid(
      `DSH_KV_TIMEOUT must be a whole number of seconds from 1 to 600; got "${
        env["DSH_KV_TIMEOUT"]
      }"`,
    );
  }
  const log = env["DSH_LOG"] || "off";
  if (log !== "off" && log !== "debug") {
    return invalid(`DSH_LOG must be debug or off; got "${log}"`);
  }
  const kv = flag("--kv") ?? (env["DSH_KV"] || undefined);
  const dataDirectory = dataFolder(env, os) ?? besideStore(kv);
  if (dataDirectory === undefined) {
    return invalid("HOME must be set, or --kv (DSH_KV) a path: the agent keeps its sessions there");
  }
  const settings: Settings = {
    kv: kv ?? `${dataDirectory}/sessions.kv`,
    kvToken: env["DENO_KV_ACCESS_TOKEN"] ? new Secret(env["DENO_KV_ACCESS_TOKEN"]) : undefined,
    kvTimeoutMs: kvTimeout * 1_000,
    dataDirectory,
    model: flag("--model"),
    permissionMode,
    network,
    webFetch,
    // Not by colons, as paths are elsewhere: specifiers hold them.
    plugins: flags.get("--plugin") ??
      (env["DSH_PLUGINS"] ?? "").split(",").map((name) => name.trim()).filter((name) =>
        name !== ""
      ),
    questionTimeoutMs: questionTimeout * 1_000,
    debug: log === "debug",
  };
  return { type: "valid", settings };
}

/** The platform's folder for application data: XDG Base Directory on Linux. */
function dataFolder(env: Surroundings["env"], os: Surroundings["os"]): string | undefined {
  const home = env["HOME"] || env["USERPROFILE"];
  switch (os) {
    case "windows":
      return env["LOCALAPPDATA"] ? `${env["LOCALAPPDATA"]}\\dsh-acp` : home && `${home}\\.dsh-acp`;
    case "darwin":
      return home && `${home}/Library/Application Support/dsh-acp`;
    default:
      return env["XDG_DATA_HOME"]?.startsWith("/")
        ? `${env["XDG_DATA_HOME"]}/dsh-acp`
        : home && `${home}/.local/share/dsh-acp`;
  }
}

/** Without a home the agent's own folder stands beside the store. */
function besideStore(kv: string | undefined): string | undefined {
  return kv === undefined || /^https?:/i.test(kv) ? undefined : `${kv}.files`;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

function splitFlag(arg: string): [string, string?] {
  const equals = arg.indexOf("=");
  return arg.startsWith("--") && equals > 0 ? [arg.slice(0, equals), arg.slice(equals + 1)] : [arg];
}

function invalid(message: string): Extract<ReadSettings, { type: "invalid" }> {
  return { type: "invalid", message };
}
