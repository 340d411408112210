/**
 * A stand-in for the part of `@std/assert` that this project's tests use, for machines that do
 * not reach jsr.io. Names, signatures and verdicts are those of `@std/assert` 1; messages differ.
 *
 * @module
 */
export { AssertionError } from "./assertion_error.ts";
export { equal } from "./equal.ts";
export { assertRejects, assertThrows } from "./throws.ts";
export {
  assertArrayIncludes,
  assertEquals,
  assertNotEquals,
  assertNotStrictEquals,
  assertObjectMatch,
  assertStrictEquals,
} from "./equals.ts";
export {
  assertAlmostEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLess,
  assertLessOrEqual,
} from "./order.ts";
export {
  assert,
  assertExists,
  assertFalse,
  assertInstanceOf,
  assertIsError,
  assertMatch,
  assertNotInstanceOf,
  assertNotMatch,
  assertStringIncludes,
  fail,
  unimplemented,
  unreachable,
} from "./basic.ts";
export type { AnyConstructor, GetConstructorType } from "./basic.ts";
export type { ArrayLikeArg } from "./equals.ts";
