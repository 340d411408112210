/** Makes models of the supported providers. The package of each is loaded at its first request. */
import { cleanEvents } from "./_completion_events.ts";
import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { Dialect } from "./_prompt.ts";
import { AiSdkModel } from "./ai_sdk_model.ts";
import { modelInfo, type ProviderId, PROVIDERS } from "./known_models.ts";
import type { Model, ModelInfo, ModelRequest } from "./model.ts";
import type { Secret } from "./secret.ts";
import type { StartTimer } from "./start_timer.ts";

/** How requests are made. */
export interface RequestOptions {
  /** What sends requests. @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
  /** The longest wait for the next part of an answer, in milliseconds. @default {300_000} */
  readonly idleTimeoutMs?: number;
  /** What measures the wait. @default {the timer of the runtime} */
  readonly startTimer?: StartTimer;
  /** Milliseconds since the Unix epoch. @default {Date.now} */
  readonly now?: () => number;
}

/** Options for {@linkcode providerModel}. */
export interface ProviderModelOptions extends RequestOptions {
  /** Which protocol is spoken. */
  readonly provider: ProviderId;
  /** The provider's own id of the model. */
  readonly model: string;
  /** What is known of it. @default {what the list of known models says} */
  readonly info?: ModelInfo;
  /** Absent: none is sent. */
  readonly key?: Secret;
  /** An absolute http or https URL. @default {the provider's own} */
  readonly baseUrl?: string;
}

/** Makes a model that can be asked. Nothing is loaded or sent before its first request. */
export function providerModel(options: ProviderModelOptions): Model {
  const { provider, model, key, baseUrl, idleTimeoutMs, startTimer, now } = options;
  const { label, keyVariable, baseUrlVariable, baseUrl: standard } = PROVIDERS[provider];
  const info = options.info ?? modelInfo(provider, model);
  return new AiSdkModel({
    info,
    endpoint: {
      label: provider === "openai" ? URL.parse(baseUrl ?? "")?.host ?? label : label,
      model: `${provider}/${model}`,
      baseUrl: baseUrl ?? standard,
      keyVariable,
      baseUrlVariable,
      ...(key && { key }),
    },
    dialect: dialectOf(provider, info),
    load: () => load(options, baseUrl ?? standard),
    providerOptions: (request) => providerOptions(provider, model, request),
    ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
    ...(startTimer && { startTimer }),
    ...(now && { now }),
  });
}

function dialectOf(provider: ProviderId, { images: userImages = false }: ModelInfo): Dialect {
  switch (provider) {
    case "deepseek":
      // A model that takes no images answers 400.
      return { id: provider, userImages, toolImages: userImages ? "result" : "omit" };
    case "openai":
      // The protocol has no images in tool results.
      return { id: provider, userImages, toolImages: "user_message" };
    case "anthropic":
      return { id: provider, userImages, toolImages: "result" };
  }
}

async function load(
  { provider, model, key, fetch }: ProviderModelOptions,
  baseURL: string,
): Promise<LanguageModelV4> {
  // Never undefined: the packages would then look for a variable of the environment.
  const apiKey = key?.reveal() ?? "";
  const settings = { apiKey, baseURL, ...(fetch && { fetch }) };
  const completions = { ...settings, fetch: cleanEvents(fetch ?? globalThis.fetch) };
  switch (provider) {
    case "deepseek": {
      const { createDeepSeek } = await import("@ai-sdk/deepseek");
      return createDeepSeek(completions).languageModel(model);
    }
    case "openai": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({ ...completions, name: provider, includeUsage: true })
        .languageModel(model);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings).languageModel(model);
    }
  }
}

/** The effort in the provider's own words. An effort the model does not offer is not sent. */
function providerOptions(
  provider: ProviderId,
  model: string,
  { reasoningEffort }: ModelRequest,
): SharedV4ProviderOptions | undefined {
  const efforts = modelInfo(provider, model).reasoningEfforts;
  const effort = reasoningEffort !== undefined && (!efforts || efforts.includes(reasoningEffort))
    ? reasoningEffort
    : undefined;
  switch (provider) {
    case "deepseek":
      return effort === undefined
        ? undefined
        : { deepseek: { thinking: { type: "enabled" }, reasoningEffort: effort } };
    case "openai":
      return effort === undefined ? undefined : { openai: { reasoningEffort: effort } };
    case "anthropic":
      // Only of the models in the list is it known that they think adaptively.
      if (!efforts) return undefined;
      return {
        anthropic: {
          thinking: { type: "adaptive", display: "summarized" },
          ...(effort !== undefined && { effort }),
        },
      };
  }
}
