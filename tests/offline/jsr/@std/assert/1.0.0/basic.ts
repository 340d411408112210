import { AssertionError, refuse, show } from "./assertion_error.ts";

/** Any constructor. */
// deno-lint-ignore no-explicit-any
export type AnyConstructor = new (...args: any[]) => any;

/** What a constructor makes. */
export type GetConstructorType<T extends AnyConstructor> = InstanceType<T>;

/** Fails unless `expr` is truthy. */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** Fails unless `expr` is falsy. */
export function assertFalse(
  expr: unknown,
  msg = "",
): asserts expr is false | 0 | 0n | "" | null | undefined {
  if (expr) throw new AssertionError(msg);
}

/** Fails if `actual` is null or undefined. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) {
    refuse(`Expected actual: "${actual}" to not be null or undefined`, msg);
  }
}

/** Fails unless `actual` is an instance of `expectedType`. */
export function assertInstanceOf<T extends AnyConstructor>(
  actual: unknown,
  expectedType: T,
  msg?: string,
): asserts actual is GetConstructorType<T> {
  if (actual instanceof expectedType) return;
  const kind = typeof actual === "object" && actual !== null
    ? actual.constructor?.name ?? "Object"
    : actual === null
    ? "null"
    : typeof actual;
  refuse(`Expected object to be an instance of "${expectedType.name}" but was "${kind}"`, msg);
}

/** Fails if `actual` is an instance of `unexpectedType`. */
export function assertNotInstanceOf<A, T>(
  actual: A,
  // deno-lint-ignore no-explicit-any
  unexpectedType: abstract new (...args: any[]) => T,
  msg?: string,
): asserts actual is Exclude<A, T> {
  if (actual instanceof unexpectedType) {
    refuse(`Expected object to not be an instance of "${unexpectedType.name}"`, msg);
  }
}

/** Fails unless `error` is an `ErrorClass` whose message contains, or matches, `msgMatches`. */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  // deno-lint-ignore no-explicit-any
  ErrorClass?: abstract new (...args: any[]) => E,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) refuse(`Expected "error" to be an Error object`, msg);
  if (ErrorClass && !(error instanceof ErrorClass)) {
    refuse(
      `Expected error to be instance of "${ErrorClass.name}", but was "${error.constructor.name}": ${error.message}`,
      msg,
    );
  }
  if (msgMatches === undefined) return;
  const matches = typeof msgMatches === "string"
    ? error.message.includes(msgMatches)
    : msgMatches.test(error.message);
  if (!matches) {
    refuse(
      `Expected error message to ${typeof msgMatches === "string" ? "include" : "match"} ${
        show(msgMatches)
      }, but got ${show(error.message)}`,
      msg,
    );
  }
}

/** Fails unless `actual` matches `expected`. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (!expected.test(actual)) refuse(`Expected actual: "${actual}" to match: "${expected}"`, msg);
}

/** Fails if `actual` matches `expected`. */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void {
  if (expected.test(actual)) {
    refuse(`Expected actual: "${actual}" to not match: "${expected}"`, msg);
  }
}

/** Fails unless `actual` contains `expected`. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (!actual.includes(expected)) {
    refuse(`Expected actual: "${actual}" to contain: "${expected}"`, msg);
  }
}

/** Fails. */
export function fail(msg?: string): never {
  refuse("Failed assertion", msg || undefined);
}

/** Fails: the code is not written yet. */
export function unimplemented(msg?: string): never {
  refuse("Unimplemented", msg);
}

/** Fails: the code should not have been reached. */
export function unreachable(msg?: string): never {
  refuse("Unreachable", msg);
}
