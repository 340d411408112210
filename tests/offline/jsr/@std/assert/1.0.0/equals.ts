import { refuse, show } from "./assertion_error.ts";
import { diff } from "./diff.ts";
import { equal } from "./equal.ts";

type Bag = Record<PropertyKey, unknown>;

/** Anything with a length and indexes, other than a string. */
export type ArrayLikeArg<T> = ArrayLike<T> & object;

/** Fails unless `actual` and `expected` are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  const text = typeof actual === "string" && typeof expected === "string"
    ? diff(escape(actual), escape(expected))
    : diff(show(actual), show(expected));
  refuse(
    `Values are not equal${
      msg ? `: ${msg}` : ""
    }\n\n    [Diff] Actual (-) / Expected (+)\n\n${text}\n`,
  );
}

/** A string by lines, with what is invisible in it made visible. */
function escape(text: string): string {
  return text.split("\n").map((line) => JSON.stringify(line).slice(1, -1)).join("\n");
}

/** Fails if `actual` and `expected` are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) {
    refuse(`Expected actual: ${show(actual)} not to be: ${show(expected)}`, msg);
  }
}

/** Fails unless both are the same value, by `Object.is`. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  const [left, right] = [show(actual), show(expected)];
  if (left === right) {
    refuse(`Values have the same structure but are not reference-equal\n\n${left}\n`, msg);
  }
  refuse(
    `Values are not strictly equal${
      msg ? `: ${msg}` : ""
    }\n\n    [Diff] Actual (-) / Expected (+)\n\n${diff(left, right)}\n`,
  );
}

/** Fails if both are the same value, by `Object.is`. */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  if (Object.is(actual, expected)) {
    refuse(`Expected "actual" to not be strictly equal to: ${show(actual)}`, msg);
  }
}

/** Fails unless each expected member is deeply equal to some member of `actual`. */
export function assertArrayIncludes<T>(
  actual: ArrayLikeArg<T>,
  expected: ArrayLikeArg<T>,
  msg?: string,
): void {
  const members = Array.from(actual);
  const missing = Array.from(expected).filter((one) => !members.some((two) => equal(one, two)));
  if (missing.length === 0) return;
  refuse(
    `Expected actual: "${show(actual)}" to include: "${show(expected)}"; missing: ${show(missing)}`,
    msg,
  );
}

/** Fails unless `actual` has, deeply, everything that `expected` has. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  assertEquals(common(actual, expected, new Map()), common(expected, expected, new Map()), msg);
}

/** The part of `value` whose keys `like` has too; instances become plain objects. */
function common(value: Bag, like: Bag, seen: Map<object, Bag>): Bag {
  const known = seen.get(value);
  if (known) return known;
  const part: Bag = {};
  seen.set(value, part);
  for (const key of Reflect.ownKeys(value)) {
    if (!(key in like)) continue;
    part[key] = commonMember(value[key], like[key], seen);
  }
  return part;
}

function commonMember(one: unknown, two: unknown, seen: Map<object, Bag>): unknown {
  if (!isObject(one) || !isObject(two) || one instanceof RegExp || one instanceof Date) return one;
  if (Array.isArray(one)) return Array.isArray(two) ? common({ ...one }, { ...two }, seen) : one;
  if (one instanceof Map && two instanceof Map) {
    return new Map(
      [...one].filter(([key]) => two.has(key)).map((
        [key, member],
      ) => [key, commonMember(member, two.get(key), seen)]),
    );
  }
  if (one instanceof Set && two instanceof Set) {
    return new Set([...one].filter((member) => two.has(member)));
  }
  return common(one as Bag, two as Bag, seen);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
