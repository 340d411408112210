/** What a step says of itself when it ends: tokens, the window they fill, and what they cost. */
import type { Cost, EventData, TokenUsage } from "./events.ts";
import type { SessionFold } from "./fold.ts";
import type { ModelInfo, ModelPrice } from "./model/model.ts";

/** The data of a `step/end`. Without usage it is the step alone. */
export function stepEnd(
  fold: Pick<SessionFold, "cost">,
  step: number,
  usage: TokenUsage | undefined,
  { contextWindow, price }: ModelInfo,
): EventData["step/end"] {
  if (!usage) return { step };
  const cost = price && fold.cost && add(fold.cost, price, usage);
  return {
    step,
    usage,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(cost && { cost }),
  };
}

const MILLION = 1_000_000;

function add(before: Cost, price: ModelPrice, usage: TokenUsage): Cost {
  const read = usage.cachedInputTokens ?? 0;
  const written = usage.cacheWriteInputTokens ?? 0;
  const plain = Math.max(0, usage.inputTokens - read - written);
  const amount = before.amount +
    (plain * price.input + usage.outputTokens * price.output +
        read * (price.cacheRead ?? price.input) + written * (price.cacheWrite ?? price.input)) /
      MILLION;
  // Sums of fractions grow a tail that says nothing.
  return { amount: Number(amount.toFixed(9)), currency: before.currency };
}
