/** How long a provider asks to wait. */

/**
 * Reads `retry-after-ms` (milliseconds) or `Retry-After` (RFC 9110 section 10.2.3: seconds or an
 * HTTP date) from headers with lower-case names. A date counts from the response's own `Date`, so
 * that a wrong local clock does not matter; `now` stands in where there is none.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  now: () => number,
): number | undefined {
  const milliseconds = duration(headers["retry-after-ms"]);
  if (milliseconds !== undefined) return milliseconds;
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  const seconds = duration(value);
  if (seconds !== undefined) return seconds * 1000;
  const until = Date.parse(value);
  if (Number.isNaN(until)) return undefined;
  const sent = Date.parse(headers["date"] ?? "");
  return Math.max(0, until - (Number.isNaN(sent) ? now() : sent));
}

function duration(value: string | undefined): number | undefined {
  const text = value?.trim() ?? "";
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
