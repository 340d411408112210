/** What a person says of a model after its name: `provider/model?window=32768&images=yes`. */
import type { ModelInfo, ModelPrice } from "./model.ts";

/** The facts that can be given. */
export type ModelFacts = Pick<ModelInfo, "contextWindow" | "images" | "price">;

const NAMES = ["window", "images", "input", "output", "cached"] as const;

/** Reads them, and passes on what is wrong with each, as the rule and the value. */
export function modelFacts(query: string, problem: (text: string) => void): ModelFacts {
  const given = new URLSearchParams(query);
  for (const name of given.keys()) {
    if (!(NAMES as readonly string[]).includes(name)) {
      problem(`facts of a model are ${NAMES.join(", ")}: current value is ${JSON.stringify(name)}`);
    }
  }
  const number = (name: (typeof NAMES)[number], rule: RegExp, words: string) => {
    const text = given.get(name);
    if (text === null) return undefined;
    if (rule.test(text)) return Number(text);
    problem(`${name} must be ${words}: current value is ${JSON.stringify(text)}`);
  };
  const images = given.get("images");
  if (images !== null && images !== "yes" && images !== "no") {
    problem(`images must be yes or no: current value is ${JSON.stringify(images)}`);
  }
  const contextWindow = number("window", /^[1-9]\d{2,8}$/, "a number of tokens, 100 at least");
  const usd = (name: "input" | "output" | "cached") =>
    number(name, /^\d{1,6}(\.\d{1,9})?$/, "US dollars for a million tokens");
  const input = usd("input");
  const output = usd("output");
  const cached = usd("cached");
  if (given.has("input") !== given.has("output")) {
    problem(`input and output must be given together: current value is ${JSON.stringify(query)}`);
  } else if (given.has("cached") && !given.has("input")) {
    problem(
      `cached must be given together with input and output: current value is ` +
        JSON.stringify(query),
    );
  }
  const price: ModelPrice | undefined = input === undefined || output === undefined
    ? undefined
    : { input, output, ...(cached !== undefined && { cacheRead: cached }) };
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(images !== null && { images: images === "yes" }),
    ...(price && { price }),
  };
}
