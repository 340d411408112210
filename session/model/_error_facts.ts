/** What an error of a provider package says about itself. */

/** What an error says about itself. */
export interface ErrorFacts {
  readonly name: string | undefined;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Machine-readable words: `type` and `code`. */
  readonly codes: readonly string[];
  /** The provider's own message. */
  readonly message: string | undefined;
  readonly data: unknown;
  readonly value: unknown;
}

/**
 * Reads an error that was thrown or streamed: by structure, so that no provider package is loaded for
 * its classes, and so that errors of several versions of them are understood.
 */
export function factsOf(error: unknown): ErrorFacts {
  const outer = record(error);
  const body = typeof outer.responseBody === "string" ? parseBody(outer.responseBody) : outer;
  const inner = typeof body.error === "object" ? record(body.error) : body;
  const status = [outer.statusCode, outer.status, inner.code, inner.status].find(isStatus);
  return {
    name: typeof outer.name === "string" ? outer.name : undefined,
    status: status === undefined ? undefined : Number(status),
    headers: record(outer.responseHeaders) as Record<string, string>,
    codes: [inner.type, inner.code, inner.status].filter((code) => typeof code === "string"),
    message: [body.error, inner.message, inner.detail, body.message, outer.message]
      .find((text): text is string => typeof text === "string" && text.trim() !== ""),
    data: outer.data,
    value: outer.value,
  };
}

/** The JSON of an error body. A short text is taken as its message, a page of markup is not. */
function parseBody(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    // Gemini wraps its error in an array.
    return record(Array.isArray(body) ? body[0] : body);
  } catch {
    // Not JSON: what a proxy or a small server writes.
    return /^\s*</.test(text) ? {} : { message: text };
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}

function isStatus(value: unknown): boolean {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return Number.isInteger(status) && Number(status) >= 300 && Number(status) <= 599;
}
