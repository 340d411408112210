/** The models known by name: what can be said of them without asking. */
import type { ModelInfo, ModelPrice } from "./model.ts";

/** The providers a model can be of. `openai` is any server that speaks chat completions. */
export type ProviderId = "deepseek" | "openai" | "anthropic";

/** What is fixed about a provider. */
export interface ProviderFacts {
  /** For a person. A server at another address goes by its host. */
  readonly label: string;
  readonly keyVariable: string;
  readonly baseUrlVariable: string;
  /** Where it is, unless configured. */
  readonly baseUrl: string;
}

/** All providers, in the order in which they offer the default model. */
export const PROVIDERS: Readonly<Record<ProviderId, ProviderFacts>> = {
  deepseek: {
    label: "DeepSeek",
    keyVariable: "DEEPSEEK_API_KEY",
    baseUrlVariable: "DEEPSEEK_BASE_URL",
    baseUrl: "https://api.deepseek.com",
  },
  anthropic: {
    label: "Anthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    baseUrl: "https://api.anthropic.com/v1",
  },
  openai: {
    label: "OpenAI",
    keyVariable: "OPENAI_API_KEY",
    baseUrlVariable: "OPENAI_BASE_URL",
    baseUrl: "https://api.openai.com/v1",
  },
};

/** Tells whether a provider has this id. */
export function isProviderId(id: string): id is ProviderId {
  return Object.hasOwn(PROVIDERS, id);
}

const CLAUDE_EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/**
 * The first of a provider is what a new session starts with. Windows and prices are those of the
 * providers' pages in November 2026. A model whose price depends on the hour (DeepSeek) or on the
 * length of the prompt (Haiku) has none here.
 */
export const KNOWN_MODELS: readonly ModelInfo[] = [
  {
    provider: "deepseek",
    model: "deepseek-v4-flash",
    name: "DeepSeek V4 Flash",
    description: "Fast and cheap",
    contextWindow: 1_000_000,
    reasoningEfforts: ["high", "max"],
  },
  {
    provider: "deepseek",
    model: "deepseek-v4-pro",
    name: "DeepSeek V4 Pro",
    description: "The most capable of DeepSeek",
    contextWindow: 1_000_000,
    reasoningEfforts: ["high", "max"],
  },
  claude("claude-sonnet-5-5", "Claude Sonnet 5.5", "Balances speed and capability", {
    input: 2,
    output: 10,
    cacheRead: 0.1,
    cacheWrite: 2.5,
  }),
  claude("claude-opus-5-5", "Claude Opus 5.5", "The most capable of Anthropic", {
    input: 4,
    output: 20,
    cacheRead: 0.2,
    cacheWrite: 5,
  }),
  claude("claude-haiku-5-5", "Claude Haiku 5.5", "Fast and cheap"),
];

/**
 * What is known of a model: at least its name.
 *
 * @param contextWindow That of a model which is not known by name, in tokens.
 */
export function modelInfo(
  provider: ProviderId,
  model: string,
  contextWindow?: number,
): ModelInfo {
  const known = KNOWN_MODELS.find((one) => one.provider === provider && one.model === model);
  if (known) return known;
  const images = provider === "anthropic" || (provider === "deepseek" && model.includes("vision"));
  return {
    provider,
    model,
    name: model,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(images && { images }),
  };
}

function claude(
  model: string,
  name: string,
  description: string,
  price?: ModelPrice,
): ModelInfo {
  return {
    provider: "anthropic",
    model,
    name,
    description,
    contextWindow: 1_000_000,
    images: true,
    ...(price && { price }),
    reasoningEfforts: CLAUDE_EFFORTS,
  };
}
