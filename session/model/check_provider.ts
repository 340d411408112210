/** Whether a provider answers, and takes the key: the cheapest request there is. */
import type { ProviderConfig } from "./catalogue_config.ts";
import { connectionProblem, errorWords } from "./_connection_words.ts";

/** What was found. */
export type ProviderCheck =
  /** `models` is what it offers, where it says so. */
  | { readonly type: "accepted"; readonly models: readonly string[] | undefined }
  /** It refused the key, or the lack of one. */
  | { readonly type: "refused"; readonly status: number }
  /** It answered, but not as a provider does. */
  | { readonly type: "odd"; readonly status: number }
  | { readonly type: "silent"; readonly reason: string };

/**
 * Asks a provider for the list of its models, which costs nothing.
 *
 * @param timeoutMs The longest wait for the whole answer, in milliseconds.
 */
export async function checkProvider(
  provider: ProviderConfig,
  timeoutMs: number,
): Promise<ProviderCheck> {
  try {
    const response = await fetch(`${provider.baseUrl}/models`, {
      headers: headersFor(provider),
      // A key goes to the address that was configured and to no other.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status } = response;
    if (response.ok) return { type: "accepted", models: modelIds(await response.text()) };
    await response.body?.cancel();
    if (status === 401 || status === 403) return { type: "refused", status };
    return { type: "odd", status };
  } catch (error) {
    return { type: "silent", reason: reasonOf(error, timeoutMs) };
  }
}

function headersFor({ id, key }: ProviderConfig): Record<string, string> {
  if (key === undefined) return {};
  switch (id) {
    case "deepseek":
    case "openai":
      return { authorization: `Bearer ${key.reveal()}` };
    case "anthropic":
      return { "x-api-key": key.reveal(), "anthropic-version": "2023-06-01" };
    default: {
      const never: never = id;
      return never;
    }
  }
}

function modelIds(text: string): readonly string[] | undefined {
  try {
    const { data } = JSON.parse(text);
    const ids = (data as unknown[]).map((entry) => (entry as { id?: unknown }).id);
    return ids.filter((id) => typeof id === "string");
  } catch {
    // Not every server has the list, or in this form. It answered, which is what was asked.
    return undefined;
  }
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${timeoutMs / 1_000} s`;
  const known = connectionProblem(errorWords(error));
  return known ?? error.message.replace(/^error sending request for url \(\S*\): /, "");
}
