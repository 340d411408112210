import { assert, assertEquals } from "@std/assert";
import { diffLines, MAX_HUNK_CHARS, presentDiffMeta, toDiffMeta } from "../../tools/_line_diff.ts";
import { replaceText } from "../../tools/_replace_text.ts";
import { toLf } from "../../tools/_line_endings.ts";

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}\n`);
}

Deno.test("diffLines() gives one hunk per changed place", async () => {
  const before = numbered(100);
  const after = before.toSpliced(89, 1, "ninety\n", "more\n").toSpliced(9, 1);
  const diff = await diffLines(before.join(""), after.join(""));
  assertEquals(diff.added, 2);
  assertEquals(diff.removed, 2);
  assertEquals(diff.hunks.map(({ line }) => line), [10, 89]);
  assertEquals(diff.hunks[0]?.oldText, before.slice(6, 13).join(""));
  assertEquals(diff.hunks[0]?.newText, before.slice(6, 9).concat(before.slice(10, 13)).join(""));
});

Deno.test("diffLines() handles empty texts and last newlines", async () => {
  const cases: [string, string, number, number][] = [
    ["", "a\n", 1, 0],
    ["a\n", "", 0, 1],
    ["a", "a\n", 1, 1],
    ["a\nb", "a\nb\nc", 2, 1],
    ["a\r\nb\r\n", "a\nb\n", 0, 0],
    ["", "", 0, 0],
  ];
  for (const [before, after, added, removed] of cases) {
    const diff = await diffLines(before, after);
    assertEquals([diff.added, diff.removed], [added, removed], JSON.stringify([before, after]));
    if (added + removed === 0) assertEquals(diff.hunks, []);
    else assertEquals(diff.hunks.map((hunk) => [hunk.oldText, hunk.newText]), [[before, after]]);
  }
});

Deno.test("diffLines() hunks turn the old text into the new, for random changes", async () => {
  let seed = 42;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  for (let round = 0; round < 200; round++) {
    const before = Array.from({ length: random(30) }, () => `${random(5)}\n`);
    const after = before.flatMap((line) =>
      [[line], [], [line, "new\n"], ["x\n"]][random(8)] ?? [line]
    );
    const oldText = before.join("") + ["", "tail"][random(2)];
    const newText = after.join("") + ["", "tail"][random(2)];
    const diff = await diffLines(oldText, newText);
    let at = 0;
    let rebuilt = "";
    for (const hunk of diff.hunks) {
      // Hunks come in order, so the first place at or after the last one is the right one only
      // if the text up to it is the same in both.
      const start = newText.indexOf(hunk.newText, rebuilt.length);
      rebuilt += newText.slice(rebuilt.length, start) + hunk.newText;
      at += hunk.oldText.length;
    }
    const context = newText.length -
      diff.hunks.reduce((sum, { newText }) => sum + newText.length, 0);
    assertEquals(at + context, oldText.length, JSON.stringify([oldText, newText]));
  }
});

Deno.test("diffLines() shows a rewrite as one hunk and leaves out what is too large", async () => {
  const before = numbered(5000);
  const rewrite = await diffLines(before.join(""), before.map((line) => `x${line}`).join(""));
  assertEquals([rewrite.hunks.length, rewrite.added, rewrite.removed], [1, 5000, 5000]);

  const huge = "y".repeat(MAX_HUNK_CHARS);
  const after = before.with(10, "small\n").with(2000, `${huge}\n`);
  const diff = await diffLines(before.join(""), after.join(""));
  assertEquals([diff.hunks.length, diff.omitted, diff.added], [1, 1, 2]);
  const held = JSON.stringify(toDiffMeta("a", diff)).length;
  assert(held < 1000, `holds ${held}`);
  const all = await diffLines("", `${huge}\n`);
  assertEquals(presentDiffMeta(toDiffMeta("a", all)), undefined);
});

Deno.test("presentDiffMeta() passes over what a log may hold instead", () => {
  assertEquals(presentDiffMeta(undefined), undefined);
  assertEquals(presentDiffMeta({ diffs: "x" }), undefined);
  assertEquals(presentDiffMeta({ diffs: [{ path: 1 }, { path: "a", newText: "b" }] }), {
    type: "diff",
    diffs: [{ path: "a", oldText: null, newText: "b" }],
    locations: [{ path: "a" }],
  });
});

Deno.test("replaceText() agrees with a plain replacement whatever the line endings", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const pieces = ["a", "b", "\n", "\r\n", "\r", "😀"];
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: random(20) }, () => pieces[random(6)]).join("");
    const old = ["a", "a\n", "\n", "b\na", "\nb", "\n\n"][random(6)] ?? "a";
    const result = replaceText(text, old, { newText: "<\n>", all: true });
    if (result.type !== "replaced") {
      assertEquals(toLf(text).includes(old), false);
      continue;
    }
    assertEquals(toLf(result.text), toLf(text).replaceAll(old, () => "<\n>"));
    // What lies before the first change is untouched.
    const start = toLf(text).indexOf(old);
    const prefix = result.text.slice(0, result.text.indexOf("<"));
    assert(text.startsWith(prefix) && toLf(prefix).length === start);
  }
});
