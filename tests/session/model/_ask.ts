/** Asks a model and collects what it streams. */
import type {
  Model,
  ModelFailure,
  ModelRequest,
  ModelStreamPart,
} from "../../../session/model/model.ts";
import { providerModel, type ProviderModelOptions } from "../../../session/model/providers.ts";
import { Secret } from "../../../session/model/secret.ts";

/** The key every test sends. */
export const KEY = "sk-test-0123456789abcdef";

/** A request of one user message, with what a test changes. */
export function requestOf(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "You help.",
    messages: [{ role: "user", text: "Hello" }],
    tools: [],
    signal: new AbortController().signal,
    ...changes,
  };
}

/** A DeepSeek model at this URL. */
export function deepseek(url: string, changes: Partial<ProviderModelOptions> = {}): Model {
  return providerModel({
    provider: "deepseek",
    model: "deepseek-v4-flash",
    key: new Secret(KEY),
    baseUrl: url,
    ...changes,
  });
}

/** A model of an OpenAI-compatible server at this URL. */
export function compatible(url: string, changes: Partial<ProviderModelOptions> = {}): Model {
  return deepseek(url, { provider: "openai", model: "local/llama", ...changes });
}

/** An Anthropic model at this URL. */
export function anthropic(url: string, changes: Partial<ProviderModelOptions> = {}): Model {
  return deepseek(url, { provider: "anthropic", model: "claude-sonnet-5-5", ...changes });
}

/** Everything a request streams. */
export async function ask(
  model: Model,
  changes: Partial<ModelRequest> = {},
): Promise<ModelStreamPart[]> {
  return await Array.fromAsync(model.stream(requestOf(changes)));
}

/** The failure a request ends with. It must be the last part, and the only end. */
export async function askFailing(
  model: Model,
  changes: Partial<ModelRequest> = {},
): Promise<ModelFailure> {
  const parts = await ask(model, changes);
  const ends = parts.filter(({ type }) => type === "finish" || type === "failure");
  const last = parts.at(-1);
  if (ends.length !== 1 || last?.type !== "failure") {
    throw new Error(`Expected one failure at the end: ${JSON.stringify(parts)}`);
  }
  return last.failure;
}

/** Consecutive text and reasoning joined, so that the pieces do not matter. */
export function joined(parts: readonly ModelStreamPart[]): ModelStreamPart[] {
  const result: ModelStreamPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (
      (part.type === "text" || part.type === "reasoning") && last?.type === part.type
    ) result[result.length - 1] = { ...last, text: last.text + part.text };
    else result.push(part);
  }
  return result;
}
