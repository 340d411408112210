/** Whether there is a model, and whether its provider can be asked. */
import { modelCatalogue } from "../../session/model/catalogue.ts";
import {
  type CatalogueConfig,
  catalogueConfigFromEnv,
  type ProviderConfig,
} from "../../session/model/catalogue_config.ts";
import { checkProvider } from "../../session/model/check_provider.ts";
import { PROVIDERS } from "../../session/model/known_models.ts";
import { readCredentials, withCredentials } from "../_credentials.ts";
import { credentialsPath } from "../_data_folder.ts";
import type { PermissionQuery } from "../_grants.ts";
import type { Settings } from "../settings.ts";
import type { Finding } from "./_finding.ts";

/** The longest wait for a provider, in milliseconds. */
const PROVIDER_MS = 5_000;

/** The default model first, then the other providers that can be asked. */
export async function checkModels(
  env: Readonly<Record<string, string>>,
  model: string | undefined,
  granted: PermissionQuery,
  settings: Pick<Settings, "dataDirectory"> | undefined,
): Promise<readonly Finding[]> {
  const login = settings
    ? readCredentials(credentialsPath(settings.dataDirectory))
    : { type: "none" as const };
  const stored = login.type === "found" ? login.credentials : {};
  const flags = model === undefined ? {} : { model };
  const read = catalogueConfigFromEnv(withCredentials(env, stored), flags);
  if (read.type === "invalid") {
    return read.problems.map((text) => ({ level: "fail", name: "model", text }));
  }
  const { config } = read;
  const resolved = await modelCatalogue(config).resolve(undefined);
  const others = Object.values(config.providers)
    .filter(({ id, ready }) => ready && id !== config.defaultModel?.provider);
  return await Promise.all([
    resolved.type === "ready" ? checkDefault(config, granted) : {
      level: "fail" as const,
      name: "model",
      text: `${resolved.message}. A prompt that starts with ! works without`,
    },
    ...login.type === "damaged"
      ? [{ level: "warn" as const, name: "login", text: login.message }]
      : [],
    ...others.map((provider) => checkOther(provider, granted)),
  ]);
}

async function checkDefault(
  { providers, defaultModel }: CatalogueConfig,
  granted: PermissionQuery,
): Promise<Finding> {
  const { provider, model } = defaultModel!;
  const found = await checkOne(providers[provider as keyof typeof providers], granted);
  const text = `${provider}/${model}: ${found.text}`;
  if (found.level === "ok" && found.models && !found.models.includes(model)) {
    return { level: "warn", name: "model", text: `${text}, but it does not list this model` };
  }
  return { level: found.level, name: "model", text };
}

async function checkOther(provider: ProviderConfig, granted: PermissionQuery): Promise<Finding> {
  const { level, text } = await checkOne(provider, granted);
  return { level: level === "ok" ? "ok" : "warn", name: "model", text: `${provider.id}: ${text}` };
}

async function checkOne(
  provider: ProviderConfig,
  granted: PermissionQuery,
): Promise<Pick<Finding, "level" | "text"> & { readonly models?: readonly string[] | undefined }> {
  const { host } = new URL(provider.baseUrl);
  const { keyVariable, baseUrlVariable } = PROVIDERS[provider.id];
  if (!granted({ name: "net", host })) {
    return { level: "fail", text: `Deno may not reach ${host}: add it to --allow-net` };
  }
  const check = await checkProvider(provider, PROVIDER_MS);
  switch (check.type) {
    case "accepted":
      return { level: "ok", text: `${host} answers`, models: check.models };
    case "refused": {
      const what = provider.key === undefined ? "wants a key" : "refused the key";
      return {
        level: "fail",
        text: `${host} ${what} (${check.status}): check ${keyVariable}, or run login`,
      };
    }
    case "odd":
      return check.status === 404
        ? { level: "ok", text: `${host} answers (it lists no models)` }
        : { level: "fail", text: `${host} answers ${check.status}: check ${baseUrlVariable}` };
    case "silent":
      return {
        level: "fail",
        text: `${host} does not answer (${check.reason}): check the network and ${baseUrlVariable}`,
      };
    default: {
      const never: never = check;
      return never;
    }
  }
}
