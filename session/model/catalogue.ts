/** The models a connection offers, made from a configuration. */
import type { CatalogueConfig } from "./catalogue_config.ts";
import { isProviderId, modelInfo, PROVIDERS } from "./known_models.ts";
import type { Model, ModelCatalogue, ModelInfo, ModelRef, ModelResolution } from "./model.ts";
import { providerModel, type RequestOptions } from "./providers.ts";

/**
 * Makes the catalogue. Nothing is loaded or sent until a model is asked.
 *
 * @example
 * ```ts
 * import { assert, assertEquals } from "@std/assert";
 * import { catalogueConfigFromEnv, modelCatalogue } from "@dsh/acp/session";
 *
 * const result = catalogueConfigFromEnv({ DEEPSEEK_API_KEY: "sk-1" });
 * assert(result.type === "valid");
 * const catalogue = modelCatalogue(result.config);
 * assertEquals(catalogue.defaultModel, { provider: "deepseek", model: "deepseek-v4-flash" });
 * ```
 */
export function modelCatalogue(
  config: CatalogueConfig,
  options: RequestOptions = {},
): ModelCatalogue {
  return new Catalogue(config, options);
}

class Catalogue implements ModelCatalogue {
  readonly models: readonly ModelInfo[];
  readonly defaultModel?: ModelRef;
  readonly smallModel?: ModelRef;
  readonly #config: CatalogueConfig;
  readonly #options: RequestOptions;
  readonly #made = new Map<string, Model>();

  constructor(config: CatalogueConfig, options: RequestOptions) {
    this.models = config.models;
    if (config.defaultModel) this.defaultModel = config.defaultModel;
    if (config.smallModel) this.smallModel = config.smallModel;
    this.#config = config;
    this.#options = options;
  }

  resolve(ref: ModelRef | undefined): Promise<ModelResolution> {
    return Promise.resolve(this.#resolve(ref ?? this.defaultModel));
  }

  #resolve(ref: ModelRef | undefined): ModelResolution {
    if (!ref) return { type: "unavailable", code: "no_model", message: NO_MODEL };
    const { provider, model } = ref;
    const name = `${provider}/${model}`;
    if (!isProviderId(provider)) {
      const ids = Object.keys(PROVIDERS).join(", ");
      return {
        type: "unavailable",
        code: "no_model",
        message: `Cannot use the model as one of the providers ${ids}: current value is "${name}"`,
      };
    }
    const { contextWindow } = this.#config;
    const { key, baseUrl, ready } = this.#config.providers[provider];
    if (!ready) {
      return {
        type: "unavailable",
        code: "auth",
        message: `Cannot ask ${name} without a key: set ${missing(provider)}`,
      };
    }
    let made = this.#made.get(name);
    if (!made) {
      const info = this.models.find((one) => one.provider === provider && one.model === model) ??
        modelInfo(provider, model, contextWindow);
      made = providerModel({
        ...this.#options,
        provider,
        model,
        baseUrl,
        ...(key && { key }),
        info,
      });
      this.#made.set(name, made);
    }
    return { type: "ready", model: made };
  }
}

const NO_MODEL = "Cannot start without a model: set DEEPSEEK_API_KEY, or ANTHROPIC_API_KEY, or " +
  "OPENAI_BASE_URL (any OpenAI-compatible server) together with DSH_MODEL=openai/<model>";

function missing(provider: keyof typeof PROVIDERS): string {
  const { keyVariable, baseUrlVariable } = PROVIDERS[provider];
  return provider === "openai"
    ? `${keyVariable}, or ${baseUrlVariable} for a server that needs none`
    : keyVariable;
}
