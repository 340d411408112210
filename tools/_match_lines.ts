/** Searches text for a regular expression in bounded time. */

/** A matching line. */
export interface LineMatch {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** What a text holds, or that the expression took too long. */
export type MatchResult =
  | { readonly type: "matches"; readonly matches: readonly LineMatch[] }
  | { readonly type: "slow" };

/** A compiled expression. */
export type LineMatcher = (text: string, maxMatches: number) => MatchResult;

/** How long the expression may take for one text, in milliseconds. */
const TIMEOUT = 500;
/** What is looked at of one line, in UTF-16 units. */
const MAX_COLUMNS = 64 * 1024;

const SCRIPT = `(() => {
  const found = [];
  let line = 0;
  for (let start = 0; start < text.length && found.length < max * 2;) {
    const newline = text.indexOf("\\n", start);
    const end = newline === -1 ? text.length : newline;
    line++;
    const content = text.slice(start, Math.min(end, start + columns)).replace(/\\r$/, "");
    if (expression.test(content)) found.push(line, content);
    start = end + 1;
  }
  return JSON.stringify(found);
})()`;

/**
 * Compiles an expression. A backtracking engine can take forever on a few characters, and it holds
 * the whole process while it does: the script runs under a limit that ends it.
 *
 * @throws {SyntaxError} If it is not a regular expression of JavaScript.
 */
export async function compileLineMatcher(pattern: string): Promise<LineMatcher> {
  // ripgrep takes flags at the front, JavaScript does not.
  const flags = /^\(\?([imsu]+)\)/.exec(pattern);
  const source = flags ? pattern.slice(flags[0].length) : pattern;
  const own = [...new Set(`${flags?.[1] ?? ""}u`)].join("");
  try {
    new RegExp(source, own);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new SyntaxError(`Cannot search as the pattern is not a regular expression: ${detail}`);
  }
  const { createContext, Script } = await import("node:vm");
  const context = createContext({ text: "", max: 0, columns: MAX_COLUMNS, source, own });
  new Script("globalThis.expression = new RegExp(source, own)").runInContext(context);
  const script = new Script(SCRIPT);
  return (text, max) => {
    Object.assign(context, { text, max });
    let json: unknown;
    try {
      json = script.runInContext(context, { timeout: TIMEOUT });
    } catch {
      // Nothing in the script throws but the limit.
      return { type: "slow" };
    } finally {
      context.text = "";
    }
    const found = JSON.parse(String(json)) as (string | number)[];
    const matches: LineMatch[] = [];
    for (let at = 0; at < found.length; at += 2) {
      matches.push({ line: Number(found[at]), text: String(found[at + 1]) });
    }
    return { type: "matches", matches };
  };
}
