import { AssertionError, refuse } from "./assertion_error.ts";
import { assertIsError } from "./basic.ts";

// deno-lint-ignore no-explicit-any
type ErrorType<E extends Error> = abstract new (...args: any[]) => E;

interface Expectation {
  readonly ErrorClass?: ErrorType<Error>;
  readonly msgIncludes?: string;
  readonly msg?: string;
}

/** Fails unless `fn` throws; returns what it threw. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Fails unless `fn` throws an `ErrorClass` whose message contains `msgIncludes`; returns it. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorType<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows(
  fn: () => unknown,
  classOrMsg?: ErrorType<Error> | string,
  msgIncludesOrMsg?: string,
  msg?: string,
): unknown {
  const expected = expectation(classOrMsg, msgIncludesOrMsg, msg);
  let thrown: unknown;
  try {
    fn();
  } catch (error) {
    thrown = error;
    return judge(thrown, expected);
  }
  refuse("Expected function to throw", expected.msg);
}

/** Fails unless the promise of `fn` rejects; resolves with what it rejected with. */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
/** Fails unless it rejects with an `ErrorClass` whose message contains `msgIncludes`; resolves with it. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorType<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: ErrorType<Error> | string,
  msgIncludesOrMsg?: string,
  msg?: string,
): Promise<unknown> {
  const expected = expectation(classOrMsg, msgIncludesOrMsg, msg);
  let promise: PromiseLike<unknown>;
  try {
    promise = fn();
  } catch {
    // A synchronous exception is a bug of the function under test, whatever it carries.
    throw new AssertionError("Function throws when expected to reject");
  }
  try {
    await promise;
  } catch (error) {
    return judge(error, expected);
  }
  refuse("Expected function to reject", expected.msg);
}

function expectation(
  classOrMsg: ErrorType<Error> | string | undefined,
  msgIncludesOrMsg: string | undefined,
  msg: string | undefined,
): Expectation {
  if (typeof classOrMsg === "string") return { msg: classOrMsg };
  return {
    ...(classOrMsg && { ErrorClass: classOrMsg }),
    ...(msgIncludesOrMsg !== undefined && { msgIncludes: msgIncludesOrMsg }),
    ...(msg !== undefined && { msg }),
  };
}

function judge(error: unknown, expected: Expectation): unknown {
  if (expected.ErrorClass) {
    if (!(error instanceof Error)) {
      refuse(`A non-Error object was thrown or rejected: ${String(error)}`, expected.msg);
    }
    assertIsError(error, expected.ErrorClass, expected.msgIncludes, expected.msg);
  }
  return error;
}
