/** What went wrong, and how to say it to a person. */
import type { TurnErrorCode } from "../events.ts";
import { type ErrorFacts, factsOf } from "./_error_facts.ts";
import { connectionProblem, errorWords } from "./_connection_words.ts";
import { retryAfterMs } from "./_retry_after.ts";
import { oneLine, scrub } from "./_scrub.ts";
import type { ModelFailure } from "./model.ts";
import type { Secret } from "./secret.ts";

/** Whom a request went to, for messages. */
export interface Endpoint {
  /** The provider for a person, for example `DeepSeek`. */
  readonly label: string;
  /** `provider/model`. */
  readonly model: string;
  readonly baseUrl: string;
  readonly keyVariable: string;
  readonly baseUrlVariable: string;
  readonly key?: Secret;
}

/** Classifies what a provider threw or streamed as an error. `now` is in ms since the Unix epoch. */
export function failureOf(error: unknown, endpoint: Endpoint, now: () => number): ModelFailure {
  const facts = factsOf(error);
  if (facts.status !== undefined && facts.status >= 300) {
    return failureOfStatus(facts, facts.status, endpoint, now);
  }
  if (facts.name === "AI_JSONParseError" || facts.name === "AI_TypeValidationError") {
    const reported = factsOf(facts.value);
    return reported.message === undefined
      ? malformed(endpoint, "an event that is not part of the protocol")
      : failureOfStreamError(reported, endpoint, now);
  }
  if (isMissingFinish(error)) return cutOff(endpoint);
  if (facts.name === "AI_InvalidResponseDataError") {
    return malformed(endpoint, "an event that is not part of the protocol");
  }
  if (facts.name === "AI_EmptyResponseBodyError") return malformed(endpoint, "no body");
  if (facts.name?.startsWith("AI_") && facts.name !== "AI_APICallError") {
    return fail(
      "invalid_request",
      false,
      endpoint,
      `Cannot send the request to ${name(endpoint)}`,
      {
        detail: facts.message,
      },
    );
  }
  if (!(error instanceof Error)) return failureOfStreamError(facts, endpoint, now);
  return failureOfConnection(error, endpoint);
}

/** Whether this is how a provider package says that the stream ended before the answer did. */
export function isMissingFinish(error: unknown): boolean {
  const { name, data } = factsOf(error);
  return name === "AI_InvalidResponseDataError" && data === undefined;
}

/** The stream ended before the answer did. */
export function cutOff(endpoint: Endpoint): ModelFailure {
  return fail("transport", true, endpoint, `The answer of ${name(endpoint)} broke off`);
}

/** The answer is none that the protocol knows. */
export function malformed(endpoint: Endpoint, what: string, retryable = true): ModelFailure {
  const hint = retryable ? "" : `; check ${endpoint.baseUrlVariable}`;
  return fail(
    "malformed_response",
    retryable,
    endpoint,
    `${name(endpoint)} answered with ${what}${hint}`,
  );
}

/** Nothing came for too long. */
export function idle(endpoint: Endpoint, idleTimeoutMs: number): ModelFailure {
  return fail(
    "timeout",
    true,
    endpoint,
    `${name(endpoint)} sent nothing for ${idleTimeoutMs / 1000} s`,
  );
}

/** The request was cancelled. */
export function aborted(endpoint: Endpoint): ModelFailure {
  return fail("transport", false, endpoint, `The request to ${name(endpoint)} was cancelled`);
}

/** The provider said that it, and not the request, is the problem. */
export function serverFailure(endpoint: Endpoint, detail: string): ModelFailure {
  return fail("server", true, endpoint, `${name(endpoint)} failed to answer`, { detail });
}

const CONTEXT = new RegExp(
  [
    "context[ _-]?(?:length|window|size)",
    "maximum context",
    "(?:prompt|input|request|conversation) (?:is |was )?too (?:long|large)",
    "too many (?:input )?tokens",
    "exceeds? .{0,40}(?:context|tokens)",
    "reduce the length of the messages",
  ].join("|"),
  "i",
);
const NO_CREDIT =
  /insufficient[ _](?:quota|balance|credits?|funds)|credit balance is too low|billing_hard_limit|payment[ _]required/i;

function failureOfStatus(
  facts: ErrorFacts,
  status: number,
  endpoint: Endpoint,
  now: () => number,
): ModelFailure {
  const words = [...facts.codes, facts.message ?? ""].join(" ");
  const wait = retryAfterMs(facts.headers, now);
  const more = {
    detail: facts.message,
    status,
    ...(wait !== undefined && { retryAfterMs: wait }),
  };
  const who = name(endpoint);
  if (status === 401 || status === 403) return authFailure(endpoint, more);
  if (status === 402 || (status < 500 && NO_CREDIT.test(words))) {
    return fail(
      "quota",
      false,
      endpoint,
      `The account at ${endpoint.label} has no credit left`,
      more,
    );
  }
  if (status === 429) {
    return fail("rate_limit", true, endpoint, `${who} asks for fewer requests`, more);
  }
  if (status === 408 || status === 504) {
    return fail("timeout", true, endpoint, `${who} took too long`, more);
  }
  if (status >= 500) return fail("server", true, endpoint, `${who} failed to answer`, more);
  if (status === 413 || ((status === 400 || status === 422) && CONTEXT.test(words))) {
    return fail("context_window", false, endpoint, `The conversation is too long for ${who}`, more);
  }
  const hint = status === 404 || status < 400
    ? `; check the name of the model and ${endpoint.baseUrlVariable}`
    : "";
  return fail("invalid_request", false, endpoint, `${who} rejected the request`, { ...more, hint });
}

function authFailure(endpoint: Endpoint, more: FailureDetails): ModelFailure {
  const start = endpoint.key
    ? `${endpoint.label} refused the key for ${endpoint.model}`
    : `${endpoint.label} asks for a key for ${endpoint.model}`;
  return fail("auth", false, endpoint, start, {
    ...more,
    hint: `; set ${endpoint.keyVariable} to a valid key`,
  });
}

/** An error inside the stream has no status, only words. */
function failureOfStreamError(
  facts: ErrorFacts,
  endpoint: Endpoint,
  now: () => number,
): ModelFailure {
  if (facts.status !== undefined) return failureOfStatus(facts, facts.status, endpoint, now);
  const words = [...facts.codes, facts.message ?? ""].join(" ");
  const status = /rate_limit/.test(words)
    ? 429
    : /authentication|invalid_api_key|permission/.test(words)
    ? 401
    : CONTEXT.test(words) || NO_CREDIT.test(words) || /invalid_request|not_found/.test(words)
    ? 400
    : 500;
  const failure = failureOfStatus(facts, status, endpoint, now);
  // The status was a guess: it is not shown.
  return { ...failure, message: failure.message.replace(` (HTTP ${status})`, "") };
}

function failureOfConnection(error: Error, endpoint: Endpoint): ModelFailure {
  const words = errorWords(error);
  const where = originOf(endpoint.baseUrl);
  const start = `Cannot reach ${name(endpoint)} at ${where}`;
  if (/NotCapable/.test(words)) {
    const [, kind = "net", target = hostOf(endpoint.baseUrl)] =
      /Requires (\w+) access to "([^"]+)"/.exec(words) ?? [];
    const flag = `--allow-${kind}=${target}`;
    return fail("transport", false, endpoint, start, {
      detail: `the program lacks a permission that ${flag} gives`,
    });
  }
  if (/timed? ?out/i.test(words)) {
    return fail("timeout", true, endpoint, start, { detail: "the connection timed out" });
  }
  const known = connectionProblem(words);
  if (known) return fail("transport", true, endpoint, start, { detail: known });
  if (/response body|successful response|body from connection/i.test(words)) {
    return cutOff(endpoint);
  }
  if (error instanceof TypeError && /fetch|request|network|connect/i.test(words)) {
    return fail("transport", true, endpoint, start, { detail: "the connection failed" });
  }
  return fail("internal", false, endpoint, `Cannot ask ${name(endpoint)}`, {
    detail: error.message,
  });
}

interface FailureDetails {
  readonly detail?: string | undefined;
  readonly status?: number;
  readonly hint?: string;
  readonly retryAfterMs?: number;
}

function fail(
  code: TurnErrorCode,
  retryable: boolean,
  endpoint: Endpoint,
  start: string,
  { detail, status, hint = "", retryAfterMs }: FailureDetails = {},
): ModelFailure {
  const shown = detail === undefined
    ? ""
    : oneLine(scrub(detail, endpoint.key)).replace(/[.\s]+$/, "");
  const message = start + (status === undefined ? "" : ` (HTTP ${status})`) +
    (shown === "" ? "" : `: ${shown}`) + hint;
  return { code, message, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function name(endpoint: Endpoint): string {
  return `${endpoint.label} (${endpoint.model})`;
}

/** Scheme, host and port: no path, no credentials. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? "an invalid URL";
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "the host";
}
