/** The most cells of the comparison table; beyond it only the first difference is shown. */
const MAX_CELLS = 4_000_000;

/** A line diff: `-` only in `actual`, `+` only in `expected`. Long equal stretches are folded. */
export function diff(actual: string, expected: string): string {
  const a = actual.split("\n");
  const b = expected.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < a.length - head && tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) tail++;
  const lines = [
    ...a.slice(0, head).map((line) => `    ${line}`),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map((line) => `    ${line}`),
  ];
  return fold(lines).join("\n");
}

function middle(a: string[], b: string[]): string[] {
  if (a.length * b.length > MAX_CELLS) {
    return [...a.map((line) => `-   ${line}`), ...b.map((line) => `+   ${line}`)];
  }
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j]
        ? at(i + 1, j + 1) + 1
        : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(`    ${a[i++]}`);
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`-   ${a[i++]}`);
    } else {
      lines.push(`+   ${b[j++]}`);
    }
  }
  return lines;
}

/** Leaves three lines of context around each difference. */
function fold(lines: string[]): string[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - 3), at + 4).some((line) => !line.startsWith(" "))
  );
  const folded: string[] = [];
  for (let at = 0; at < lines.length;) {
    let end = at;
    while (end < lines.length && !near[end]) end++;
    if (end - at > 1) folded.push(`    ... ${end - at} lines ...`);
    else if (end - at === 1) folded.push(lines[at] ?? "");
    if (end < lines.length) folded.push(lines[end] ?? "");
    at = end + 1;
  }
  return folded;
}
