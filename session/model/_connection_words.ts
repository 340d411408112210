/** What kept a request from its host, in words for a person. */

const CONNECTION_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/connection refused|ECONNREFUSED/i, "the connection was refused"],
  [/dns error|lookup address|ENOTFOUND|EAI_AGAIN/i, "the host name was not found"],
  [/certificate|tls|ssl/i, "the TLS connection failed"],
  [/unreachable/i, "the network is unreachable"],
  [
    /connection (?:was )?(?:closed|reset|aborted)|broken pipe|ECONNRESET/i,
    "the connection was closed",
  ],
];

/** The names and messages of an error and its causes, one a line. */
export function errorWords(error: Error): string {
  const chain: string[] = [];
  for (
    let cause: unknown = error;
    cause instanceof Error && chain.length < 8;
    cause = cause.cause
  ) {
    chain.push(`${cause.name}: ${cause.message}`);
  }
  return chain.join("\n");
}

/** What is known of such words. */
export function connectionProblem(words: string): string | undefined {
  return CONNECTION_ERRORS.find(([pattern]) => pattern.test(words))?.[1];
}
