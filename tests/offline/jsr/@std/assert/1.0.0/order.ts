import { refuse, show } from "./assertion_error.ts";

/** Fails unless `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual > expected)) refuse(`Expect ${show(actual)} > ${show(expected)}`, msg);
}

/** Fails unless `actual >= expected`. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual >= expected)) refuse(`Expect ${show(actual)} >= ${show(expected)}`, msg);
}

/** Fails unless `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual < expected)) refuse(`Expect ${show(actual)} < ${show(expected)}`, msg);
}

/** Fails unless `actual <= expected`. */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual <= expected)) refuse(`Expect ${show(actual)} <= ${show(expected)}`, msg);
}

/** Fails unless the two differ by no more than `tolerance` (absolute). */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  msg?: string,
): void {
  const limit = tolerance ?? (Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7);
  if (Object.is(actual, expected) || Math.abs(expected - actual) <= limit) return;
  refuse(`Expected actual: "${actual}" to be close to "${expected}" within ${limit}`, msg);
}
