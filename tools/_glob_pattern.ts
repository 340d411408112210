/** Glob patterns: `*`, `?`, `[a-z]`, `{a,b}` and `**` over path segments. Linear in the path. */

/** Tells whether a relative path, with `/` between its names, matches. */
export type PathMatcher = (path: string) => boolean;

type Segment = "**" | readonly Piece[];
type Piece = "*" | ((char: string) => boolean);

/** The most patterns that braces may expand to. */
const MAX_ALTERNATIVES = 256;

/**
 * Compiles a pattern. One without `/` matches the last name at any depth, as in `.gitignore`. Names
 * that start with a dot are names like any other.
 *
 * @throws {RangeError} If braces expand to more than 256 patterns.
 */
export function compileGlob(pattern: string): PathMatcher {
  const alternatives = expandBraces(pattern).map((text) => {
    const names = text.replace(/^(\.?\/)+/, "").split("/").filter((name) => name !== "");
    const anchored = pattern.includes("/");
    return (anchored ? names : ["**", ...names]).map(compileSegment);
  });
  return (path) => {
    const names = path.split("/");
    return alternatives.some((segments) => matchSegments(segments, names));
  };
}

/**
 * Splits off the leading names without wildcards of a pattern that leaves the searched folder: an
 * absolute one, or one that starts with `..`.
 */
export function splitBase(pattern: string): { readonly base: string; readonly rest: string } {
  if (!/^(\/|\.\.\/|[a-zA-Z]:[\\/])/.test(pattern)) return { base: "", rest: pattern };
  const names = pattern.split("/");
  const wild = names.findIndex((name) => /[*?[{]/.test(name));
  const end = wild === -1 ? names.length - 1 : wild;
  // The slash keeps the rest anchored: `/src/*.ts` is not `*.ts` at any depth.
  return { base: names.slice(0, end).join("/") || "/", rest: `./${names.slice(end).join("/")}` };
}

function expandBraces(pattern: string): string[] {
  let done: string[] = [""];
  for (let at = 0; at < pattern.length; at++) {
    const group = pattern[at] === "{" ? parseGroup(pattern, at) : undefined;
    const literal = pattern[at] === "\\" ? pattern.slice(at, at + 2) : pattern[at] ?? "";
    const options = group ? group.options.flatMap(expandBraces) : [literal];
    done = done.flatMap((head) => options.map((option) => head + option));
    if (done.length > MAX_ALTERNATIVES) {
      throw new RangeError(
        `Cannot use the pattern as its braces may expand to ${MAX_ALTERNATIVES} patterns: ` +
          `current value is "${pattern}"`,
      );
    }
    at = group ? group.end : at + literal.length - 1;
  }
  return done;
}

function parseGroup(
  pattern: string,
  start: number,
): { options: string[]; end: number } | undefined {
  const options: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") at++;
    else if (char === "{") depth++;
    else if (char === "," && depth === 1) {
      options.push(pattern.slice(from, at));
      from = at + 1;
    } else if (char === "}" && --depth === 0) {
      options.push(pattern.slice(from, at));
      return options.length > 1 ? { options, end: at } : undefined;
    }
  }
  return undefined; // A brace that is never closed, or holds one option, stands for itself.
}

function compileSegment(segment: string): Segment {
  if (segment === "**") return "**";
  const pieces: Piece[] = [];
  const chars = [...segment];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const set = char === "[" ? parseSet(chars, at) : undefined;
    if (char === "*") {
      if (pieces.at(-1) !== "*") pieces.push("*");
    } else if (char === "?") {
      pieces.push(() => true);
    } else if (set) {
      pieces.push(set.matches);
      at = set.end;
    } else {
      const literal = char === "\\" ? chars[++at] ?? "\\" : char;
      pieces.push((other) => other === literal);
    }
  }
  return pieces;
}

function parseSet(
  chars: readonly string[],
  start: number,
): { matches: (char: string) => boolean; end: number } | undefined {
  const negated = chars[start + 1] === "!" || chars[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  // A bracket right at the beginning is a member.
  const end = chars.indexOf("]", first + 1);
  if (end === -1) return undefined;
  const ranges: [string, string][] = [];
  for (let at = first; at < end; at++) {
    const low = chars[at] ?? "";
    const isRange = chars[at + 1] === "-" && at + 2 < end;
    ranges.push([low, isRange ? chars[at + 2] ?? low : low]);
    if (isRange) at += 2;
  }
  const matches = (char: string) =>
    ranges.some(([low, high]) => low <= char && char <= high) !== negated;
  return { matches, end };
}

function matchSegments(segments: readonly Segment[], names: readonly string[]): boolean {
  return matchWithStars(segments, names, (segment) => segment === "**", (segment, name) => {
    return segment !== "**" &&
      matchWithStars(
        segment,
        [...name],
        (piece) => piece === "*",
        (piece, char) => piece !== "*" && piece(char),
      );
  });
}

/** Matches items against a pattern with stars. Only the last star has to be reconsidered. */
function matchWithStars<Part, Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  isStar: (part: Part) => boolean,
  matches: (part: Part, item: Item) => boolean,
): boolean {
  let part = 0;
  let star = -1;
  let resume = 0;
  for (let item = 0; item < items.length;) {
    const current = pattern[part];
    if (current !== undefined && isStar(current)) {
      star = part++;
      resume = item;
    } else if (current !== undefined && matches(current, items[item] as Item)) {
      part++;
      item++;
    } else if (star !== -1) {
      part = star + 1;
      item = ++resume;
    } else {
      return false;
    }
  }
  while (part < pattern.length && isStar(pattern[part] as Part)) part++;
  return part === pattern.length;
}
