/** What models there are, from the environment and the command line. Pure: it reads nothing itself. */
import {
  isProviderId,
  KNOWN_MODELS,
  modelInfo,
  type ProviderId,
  PROVIDERS,
} from "./known_models.ts";
import { type ModelFacts, modelFacts } from "./_model_facts.ts";
import type { ModelInfo, ModelRef } from "./model.ts";
import { Secret } from "./secret.ts";

/** Where a provider is, and the key for it. */
export interface ProviderConfig {
  /** Its own id, the key it is filed under. */
  readonly id: ProviderId;
  /** Absolute, http or https, without a trailing slash. */
  readonly baseUrl: string;
  /** Absent: none is sent. */
  readonly key?: Secret;
  /** Whether it can be asked: it has a key, or is a server that may not want one. */
  readonly ready: boolean;
}

/** Which models are offered. Safe to print: keys are {@linkcode Secret}s. */
export interface CatalogueConfig {
  /** Every provider, whether it can be asked or not. */
  readonly providers: Readonly<Record<ProviderId, ProviderConfig>>;
  /** What is offered, in this order. */
  readonly models: readonly ModelInfo[];
  /** What a new session starts with. */
  readonly defaultModel?: ModelRef;
  /** That of models which are not known by name, in tokens. */
  readonly contextWindow?: number;
  /** What small things are asked of. Absent: they are not asked. */
  readonly smallModel?: ModelRef;
}

/** A configuration, or every reason why there is none. */
export type CatalogueConfigResult =
  | { readonly type: "valid"; readonly config: CatalogueConfig }
  | { readonly type: "invalid"; readonly problems: readonly string[] };

/** The variables by name, as `Deno.env.toObject()` gives them. An empty one counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the command line says about models. */
export interface CatalogueFlags {
  /** `--model provider/model`. */
  readonly model?: string;
}

/**
 * Reads the configuration of models.
 *
 * - `DEEPSEEK_API_KEY`, `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`: a provider with a key is offered.
 * - `DEEPSEEK_BASE_URL`, `ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`: where it is. A server given by
 *   `OPENAI_BASE_URL` needs no key.
 * - `--model` or `DSH_MODEL`, as `provider/model`: what a new session starts with.
 * - `DSH_MODELS`: more models, as a comma-separated list.
 * - `DSH_CONTEXT_WINDOW`: how many tokens the context of a model holds that is not known by name.
 * - `DSH_SMALL_MODEL`: what sessions' titles are asked of; without it nothing is.
 *
 * A name may be followed by facts, `provider/model?window=32768&images=yes&input=0.2&output=0.8`:
 * the context window in tokens, whether it takes images, and what a million tokens of the request,
 * of the answer and, as `cached`, of the cache cost in US dollars. They win over what is known.
 *
 * A model that is named is offered even if its provider has no key: asking it then says which
 * variable is missing. Without a named model the default is the first known model of a provider
 * with a key, otherwise the first of `DSH_MODELS`.
 *
 * @example
 * ```ts
 * import { assert, assertEquals } from "@std/assert";
 * import { catalogueConfigFromEnv } from "@dsh/acp/session";
 *
 * const result = catalogueConfigFromEnv({ OPENAI_BASE_URL: "http://localhost:11434/v1" }, {
 *   model: "openai/qwen3:8b",
 * });
 * assert(result.type === "valid");
 * assertEquals(result.config.defaultModel, { provider: "openai", model: "qwen3:8b" });
 * ```
 */
export function catalogueConfigFromEnv(
  env: Environment,
  flags: CatalogueFlags = {},
): CatalogueConfigResult {
  const problems: string[] = [];
  const providers = {
    deepseek: providerConfig("deepseek", env, problems),
    anthropic: providerConfig("anthropic", env, problems),
    openai: providerConfig("openai", env, problems),
  };
  const named = flags.model !== undefined
    ? modelRef("--model", flags.model, problems)
    : env.DSH_MODEL?.trim()
    ? modelRef("DSH_MODEL", env.DSH_MODEL, problems)
    : undefined;
  const more = (env.DSH_MODELS ?? "").split(",").filter((entry) => entry.trim() !== "")
    .map((entry) => modelRef("DSH_MODELS", entry, problems))
    .filter((ref) => ref !== undefined);
  const contextWindow = contextWindowOf(env, problems);
  const small = env.DSH_SMALL_MODEL?.trim()
    ? modelRef("DSH_SMALL_MODEL", env.DSH_SMALL_MODEL, problems)
    : undefined;
  if (problems.length > 0) return { type: "invalid", problems };
  const known = Object.values(providers).filter(({ ready }) => ready)
    .flatMap(({ id }) => KNOWN_MODELS.filter(({ provider }) => provider === id))
    .map((info) => withoutPrice(info, providers));
  const defaultModel = named ?? known[0] ??
    more.find(({ provider }) => providers[provider].ready) ??
    more[0];
  return {
    type: "valid",
    config: {
      providers,
      models: withNamed(known, [...named ? [named] : [], ...more], providers, contextWindow),
      ...(contextWindow !== undefined && { contextWindow }),
      ...(defaultModel && {
        defaultModel: { provider: defaultModel.provider, model: defaultModel.model },
      }),
      ...(small && { smallModel: { provider: small.provider, model: small.model } }),
    },
  };
}

interface KnownRef extends ModelRef {
  readonly provider: ProviderId;
  readonly facts: ModelFacts;
}

/** Whoever serves a known model at another address has prices of their own. */
function withoutPrice(info: ModelInfo, providers: CatalogueConfig["providers"]): ModelInfo {
  const { price: _, ...rest } = info;
  const id = info.provider as ProviderId;
  return providers[id].baseUrl === PROVIDERS[id].baseUrl ? info : rest;
}

function withNamed(
  known: readonly ModelInfo[],
  named: readonly KnownRef[],
  providers: CatalogueConfig["providers"],
  contextWindow: number | undefined,
): ModelInfo[] {
  const models = [...known];
  for (const { provider, model, facts } of named) {
    const at = models.findIndex((info) => info.provider === provider && info.model === model);
    const info = models[at] ??
      withoutPrice(modelInfo(provider, model, contextWindow), providers);
    models.splice(at < 0 ? models.length : at, 1, { ...info, ...facts });
  }
  return models;
}

function modelRef(source: string, text: string, problems: string[]): KnownRef | undefined {
  const [provider = "", ...rest] = text.trim().split("/");
  const [, model = "", query = ""] = /^([^?]*)\??(.*)$/s.exec(rest.join("/")) ?? [];
  if (isProviderId(provider) && /^[\x21-\x7e]+$/.test(model)) {
    const facts = modelFacts(
      query,
      (problem) => problems.push(`Cannot use ${source}: of ${provider}/${model}, ${problem}`),
    );
    return { provider, model, facts };
  }
  problems.push(
    `Cannot use ${source} as provider/model with one of the providers ` +
      `${Object.keys(PROVIDERS).join(", ")}: current value is ${quote(text.trim())}`,
  );
}

function contextWindowOf(env: Environment, problems: string[]): number | undefined {
  const text = env.DSH_CONTEXT_WINDOW?.trim();
  if (!text) return undefined;
  const tokens = Number(text);
  if (Number.isInteger(tokens) && tokens >= 1_000 && tokens <= 100_000_000) return tokens;
  problems.push(
    "Cannot use DSH_CONTEXT_WINDOW as a whole number of tokens from 1000 to 100000000: " +
      `current value is ${quote(text)}`,
  );
}

function providerConfig(id: ProviderId, env: Environment, problems: string[]): ProviderConfig {
  const facts = PROVIDERS[id];
  const key = keyOf(facts.keyVariable, env, problems);
  const given = env[facts.baseUrlVariable]?.trim() || undefined;
  const baseUrl = given === undefined
    ? undefined
    : baseUrlOf(facts.baseUrlVariable, given, problems);
  return {
    id,
    baseUrl: withVersion(id, baseUrl) ?? facts.baseUrl,
    ...(key && { key }),
    ready: key !== undefined || (id === "openai" && baseUrl !== undefined),
  };
}

function keyOf(variable: string, env: Environment, problems: string[]): Secret | undefined {
  const value = env[variable]?.trim();
  if (!value) return undefined;
  if (/^[\x21-\x7e]+$/.test(value)) return new Secret(value);
  problems.push(
    `Cannot use ${variable} as a key of printable ASCII characters without spaces: ` +
      `current value is hidden and has ${value.length} characters`,
  );
}

function baseUrlOf(variable: string, text: string, problems: string[]): string | undefined {
  const url = URL.parse(text);
  const rule = !url || !/^https?:$/.test(url.protocol)
    ? "an absolute http or https URL"
    : url.username !== "" || url.password !== ""
    ? "a URL without user name and password"
    : url.search !== "" || url.hash !== ""
    ? "a URL without query and fragment"
    : undefined;
  if (rule === undefined) return text.replace(/\/+$/, "");
  // What stands before an @, in a query or in a fragment may be a secret.
  const shown = text.replace(/\/\/[^/]*@/, "//[hidden]@").replace(/[?#].*$/s, "");
  problems.push(`Cannot use ${variable} as ${rule}: current value is ${quote(shown)}`);
}

/** Anthropic's own tools take the base URL without the version, its SDK package with it. */
function withVersion(id: ProviderId, baseUrl: string | undefined): string | undefined {
  if (id !== "anthropic" || baseUrl === undefined || /\/v\d+$/.test(baseUrl)) return baseUrl;
  return `${baseUrl}/v1`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
