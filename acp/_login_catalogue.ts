/** The models, with the keys that `login` stores: a login or logout counts from the next prompt on. */
import { modelCatalogue } from "../session/model/catalogue.ts";
import { catalogueConfigFromEnv } from "../session/model/catalogue_config.ts";
import type {
  ModelCatalogue,
  ModelInfo,
  ModelRef,
  ModelResolution,
} from "../session/model/model.ts";
import { modelKeys } from "./_mcp_grants.ts";
import { readCredentials, withCredentials } from "./_credentials.ts";

/** Options for {@linkcode LoginCatalogue}. */
export interface LoginCatalogueOptions {
  readonly env: Readonly<Record<string, string>>;
  /** `provider/model`: what new sessions start with. */
  readonly model: string | undefined;
  /** Absolute. */
  readonly credentialsPath: string;
  /** Told why stored keys are not used. */
  readonly complain: (message: string) => void;
}

/** A catalogue that looks at the stored keys whenever a model is asked for. */
export class LoginCatalogue implements ModelCatalogue {
  readonly #options: LoginCatalogueOptions;
  #read: string | undefined;
  #current!: ModelCatalogue;
  #keys: readonly string[] = [];
  #problem: string | undefined;

  /** Reads the stored keys. */
  constructor(options: LoginCatalogueOptions) {
    this.#options = options;
    this.#refresh();
  }

  get models(): readonly ModelInfo[] {
    return this.#current.models;
  }

  get defaultModel(): ModelRef | undefined {
    return this.#current.defaultModel;
  }

  get smallModel(): ModelRef | undefined {
    return this.#current.smallModel;
  }

  /** The keys of the models, in plain text: for who must not pass them on. */
  get keys(): readonly string[] {
    return this.#keys;
  }

  async resolve(ref: ModelRef | undefined): Promise<ModelResolution> {
    this.#refresh();
    const resolved = await this.#current.resolve(ref);
    if (resolved.type === "ready" || this.#problem === undefined) return resolved;
    return { ...resolved, message: `${resolved.message}. ${this.#problem}` };
  }

  #refresh(): void {
    const { env, model, credentialsPath, complain } = this.#options;
    const read = readCredentials(credentialsPath);
    // The models that were made keep what they know of their provider while nothing changes.
    const state = JSON.stringify(read);
    if (state === this.#read) return;
    this.#read = state;
    const flags = model === undefined ? {} : { model };
    const stored = read.type === "found" ? read.credentials : {};
    const merged = catalogueConfigFromEnv(withCredentials(env, stored), flags);
    const config = merged.type === "valid" ? merged : catalogueConfigFromEnv(env, flags);
    if (config.type === "invalid") throw new TypeError(config.problems.join("; "));
    this.#problem = read.type === "damaged"
      ? read.message
      : merged.type === "invalid"
      ? `The stored keys are not used: ${merged.problems.join("; ")}`
      : undefined;
    if (this.#problem !== undefined) complain(this.#problem);
    this.#keys = modelKeys(config.config);
    this.#current = modelCatalogue(config.config);
  }
}
