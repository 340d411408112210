import { assertEquals, assertThrows } from "@std/assert";
import { compileGlob, splitBase } from "../../tools/_glob_pattern.ts";

Deno.test("compileGlob() matches as shells and ignore files do", () => {
  const cases: [string, string[], string[]][] = [
    ["*.ts", ["a.ts", "x/y/a.ts", ".ts"], ["a.tsx", "a.ts/b"]],
    ["/*.ts", ["a.ts"], ["x/a.ts"]],
    ["./*.ts", ["a.ts"], ["x/a.ts"]],
    ["src/**", ["src/a", "src/a/b"], ["a", "srcs/a"]],
    ["**/a", ["a", "x/a", "x/y/a"], ["ba", "a/b"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/xb", "ab"]],
    ["a/**/b/**/c", ["a/b/c", "a/b/b/c", "a/1/b/2/3/c"], ["a/c"]],
    ["a?c", ["abc", "a😀c"], ["ac", "abbc", "a/c"]],
    ["[a-c]x", ["ax", "cx"], ["dx"]],
    ["[!a-c]x", ["dx"], ["ax"]],
    ["[]x]", ["]", "x"], ["y"]],
    ["[", ["["], ["x"]],
    ["a{b,c{d,e}}f", ["abf", "acdf", "acef"], ["af", "acf"]],
    ["{a", ["{a"], ["a"]],
    ["{a}", ["{a}"], ["a"]],
    ["\\*", ["*"], ["a"]],
    ["{src,test}/**/*.{js,ts}", ["src/a.js", "test/x/b.ts"], ["lib/a.js"]],
    ["a**b", ["ab", "axxb"], ["a/b"]],
    ["文*", ["文件", "x/文"], ["件"]],
  ];
  for (const [pattern, yes, no] of cases) {
    const matches = compileGlob(pattern);
    for (const path of yes) assertEquals(matches(path), true, `${pattern} should match ${path}`);
    for (const path of no) assertEquals(matches(path), false, `${pattern} matches ${path}`);
  }
});

Deno.test("compileGlob() takes no time for patterns made to backtrack", () => {
  const matches = compileGlob(`${"*a".repeat(100)}*b`);
  assertEquals(matches("a".repeat(255)), false);
  const deep = compileGlob(`${"**/a/".repeat(50)}b`);
  assertEquals(deep("a/".repeat(500) + "c"), false);
});

Deno.test("compileGlob() refuses braces that explode", () => {
  assertThrows(() => compileGlob("{a,b}".repeat(9)), RangeError, "may expand to 256");
});

Deno.test("splitBase() splits off what leaves the folder", () => {
  assertEquals(splitBase("src/*.ts"), { base: "", rest: "src/*.ts" });
  assertEquals(splitBase("..cache/*"), { base: "", rest: "..cache/*" });
  assertEquals(splitBase("/a/b/*.ts"), { base: "/a/b", rest: "./*.ts" });
  assertEquals(splitBase("/a/b.ts"), { base: "/a", rest: "./b.ts" });
  assertEquals(splitBase("/*"), { base: "/", rest: "./*" });
  assertEquals(splitBase("../x/**/y"), { base: "../x", rest: "./**/y" });
});
