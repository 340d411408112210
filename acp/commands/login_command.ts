/** `login`: asks for a provider's key, checks it, and stores it. */
import {
  catalogueConfigFromEnv,
  type ProviderConfig,
} from "../../session/model/catalogue_config.ts";
import { checkProvider } from "../../session/model/check_provider.ts";
import { isProviderId, type ProviderId, PROVIDERS } from "../../session/model/known_models.ts";
import {
  type Credentials,
  readCredentials,
  type StoredKey,
  withCredentials,
  writeCredentials,
} from "../_credentials.ts";
import { credentialsPath, openCredentialsFolder, openDataFolder } from "../_data_folder.ts";
import { Answers } from "./_ask_terminal.ts";
import type { ProgramCommand } from "./program_command.ts";

/** The longest wait for the provider, in milliseconds. */
const CHECK_MS = 5_000;

const USAGE = "usage: login [deepseek|anthropic|openai] [--base-url URL] [--model openai/NAME]; " +
  "the key is asked for, or read from stdin";

/** `login [PROVIDER] [--base-url URL]`. */
export const loginCommand: ProgramCommand = async (args, surroundings) => {
  const { complain, keyboard, settings, granted } = surroundings;
  const given = parse(args);
  if (given === undefined) {
    complain(USAGE);
    return 2;
  }
  const isTerminal = keyboard.isTerminal();
  const answers = new Answers(keyboard, surroundings.ask);
  const question = "Provider: deepseek, anthropic, or openai for any OpenAI-compatible server " +
    "[deepseek]: ";
  const provider = given.provider ?? (isTerminal ? await answers.ask(question) : "");
  if (provider === undefined) return cancelled(complain);
  const id = provider === "" && isTerminal ? "deepseek" : provider;
  if (!isProviderId(id)) {
    complain(id === "" ? USAGE : `the provider must be one of ${names()}; got "${id}"`);
    return 2;
  }
  const { model } = settings;
  if (model !== undefined && !(model.startsWith(`${id}/`) && model.length > id.length + 1)) {
    complain(`--model must be ${id}/ and a name; got "${model}"`);
    return 2;
  }
  const stored = isTerminal
    ? await askFor(id, given.baseUrl, model, answers)
    : entry(id, await answers.line() ?? "", given.baseUrl, model);
  if (stored === undefined) return cancelled(complain);
  const config = catalogueConfigFromEnv(withCredentials({}, { [id]: stored }));
  if (config.type === "invalid") {
    config.problems.forEach(complain);
    return 1;
  }
  const checked = config.config.providers[id];
  if (!checked.ready || (id !== "openai" && stored.key === undefined)) {
    complain(`no key was given for ${PROVIDERS[id].label}; nothing is stored`);
    return 1;
  }
  if (!await isTaken(checked, granted({ name: "net", host: hostOf(checked) }), complain)) return 1;
  const folder = await openDataFolder(settings, { canWrite: () => true });
  if (folder.type !== "ready") {
    complain(folder.message);
    return 1;
  }
  const closed = await openCredentialsFolder(settings.dataDirectory);
  if (closed !== undefined) {
    complain(closed);
    return 1;
  }
  const path = credentialsPath(settings.dataDirectory);
  const before = readCredentials(path);
  if (before.type === "damaged") complain(`replacing what could not be read in "${path}"`);
  const kept = before.type === "found" ? before.credentials : {};
  await writeCredentials(path, { ...kept, [id]: stored });
  complain(`stored for ${PROVIDERS[id].label} in "${path}", which only you can read`);
  if (!namesModel({ ...kept, [id]: stored }, surroundings.env)) {
    complain("no model is named yet: log in again with --model openai/NAME, or set DSH_MODEL");
  }
  const { keyVariable } = PROVIDERS[id];
  if (surroundings.env[keyVariable]) complain(`${keyVariable} is set as well, and wins`);
  return 0;
};

function parse(
  args: readonly string[],
): { readonly provider?: string; readonly baseUrl?: string } | undefined {
  const found: { provider?: string; baseUrl?: string } = {};
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const value = arg === "--base-url" ? rest.shift() : /^--base-url=(.*)$/.exec(arg)?.[1];
    if (value) found.baseUrl = value;
    else if (arg.startsWith("-") || found.provider !== undefined) return undefined;
    else found.provider = arg;
  }
  return found;
}

async function askFor(
  id: ProviderId,
  baseUrl: string | undefined,
  model: string | undefined,
  answers: Answers,
): Promise<StoredKey | undefined> {
  const isOpen = id === "openai";
  const url = baseUrl ??
    (isOpen ? await answers.ask(`Base URL [${PROVIDERS.openai.baseUrl}]: `) : "");
  if (url === undefined) return undefined;
  const name = isOpen && model === undefined ? await answers.ask("Model: ") : "";
  if (name === undefined) return undefined;
  const optional = isOpen && url !== "" ? ", empty if it wants none" : "";
  const key = await answers.askHidden(`Key (not shown${optional}): `);
  if (key === undefined) return undefined;
  return entry(id, key, url || undefined, name ? `${id}/${name}` : model);
}

/** Whether sessions would start with a model. */
function namesModel(
  stored: Credentials,
  env: Readonly<Record<string, string>>,
): boolean {
  const read = catalogueConfigFromEnv(withCredentials(env, stored));
  // What is wrong in the environment is named where the agent starts.
  return read.type === "invalid" || read.config.defaultModel !== undefined;
}

/** A key for any server is stored with its address, so that it goes to no other. */
function entry(
  id: ProviderId,
  key: string,
  baseUrl: string | undefined,
  model: string | undefined,
): StoredKey {
  const url = baseUrl ?? (id === "openai" && key !== "" ? PROVIDERS.openai.baseUrl : undefined);
  const name = model?.startsWith(`${id}/`) ? model.slice(id.length + 1) : undefined;
  return { ...(key && { key }), ...(url && { baseUrl: url }), ...(name && { model: name }) };
}

/** Whether to store it: a provider that cannot be asked now is no reason not to. */
async function isTaken(
  provider: ProviderConfig,
  mayAsk: boolean,
  complain: (message: string) => void,
): Promise<boolean> {
  const host = hostOf(provider);
  const check = mayAsk
    ? await checkProvider(provider, CHECK_MS)
    : { type: "silent" as const, reason: "Deno may not reach it: add it to --allow-net" };
  switch (check.type) {
    case "accepted":
      return true;
    case "refused":
      complain(`${host} refused the key (${check.status}); nothing is stored`);
      return false;
    case "odd":
      complain(`${host} could not be asked about the key (it answered ${check.status})`);
      return true;
    case "silent":
      complain(`${host} could not be asked about the key (${check.reason})`);
      return true;
    default: {
      const never: never = check;
      return never;
    }
  }
}

function hostOf({ baseUrl }: ProviderConfig): string {
  return new URL(baseUrl).host;
}

function names(): string {
  return Object.keys(PROVIDERS).join(", ");
}

function cancelled(complain: (message: string) => void): number {
  complain("cancelled; nothing is stored");
  return 130;
}
