import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Workspace } from "./_workspace.ts";

/** Every rule holds with ripgrep and without it. */
const PROGRAMS = { ripgrep: "rg", walk: "/nonexistent/rg" };
const HAS_RIPGREP = await hasRipgrep();

async function hasRipgrep(): Promise<boolean> {
  try {
    return (await new Deno.Command("rg", { args: ["--version"] }).output()).success;
  } catch {
    return false; // Not installed: the other half of the tests still runs.
  }
}

function testBoth(name: string, body: (ws: Workspace) => Promise<void>): void {
  for (const [way, ripgrep] of Object.entries(PROGRAMS)) {
    Deno.test({
      name: `${name} (${way})`,
      ignore: way === "ripgrep" && !HAS_RIPGREP,
      async fn() {
        await using ws = await Workspace.open({ ripgrep });
        await body(ws);
      },
    });
  }
}

async function putAll(ws: Workspace, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await ws.put(name, content);
}

async function globbed(ws: Workspace, args: object): Promise<string[]> {
  return (await ws.text("glob", args)).split("\n").sort();
}

testBoth("glob() finds names at any depth, hidden ones too", async (ws) => {
  await putAll(ws, { "a.ts": "", "b/c.ts": "", ".d/e.ts": "", "f.js": "", ".git/g.ts": "" });
  assertEquals(await globbed(ws, { pattern: "*.ts" }), [".d/e.ts", "a.ts", "b/c.ts"]);
  assertEquals(await globbed(ws, { pattern: "**/*.{ts,js}" }), [
    ".d/e.ts",
    "a.ts",
    "b/c.ts",
    "f.js",
  ]);
  assertEquals(await globbed(ws, { pattern: "b/*" }), ["b/c.ts"]);
  assertEquals(await globbed(ws, { pattern: "*", path: "b" }), ["b/c.ts"]);
  assertEquals(await globbed(ws, { pattern: `${ws.cwd}/b/**/*.ts` }), ["b/c.ts"]);
  assertEquals(await globbed(ws, { pattern: "*.rs" }), ["No files found"]);
});

testBoth("glob() lists the newest first and at most 100", async (ws) => {
  for (let index = 0; index < 101; index++) {
    await ws.put(`${index}.txt`, "");
    await Deno.utime(ws.path(`${index}.txt`), 1000 + index, 1000 + index);
  }
  const lines = (await ws.text("glob", { pattern: "*.txt" })).split("\n");
  assertEquals(lines.slice(0, 2), ["100.txt", "99.txt"]);
  assertEquals(lines.length, 101);
  assertEquals(lines[100], "(Only the newest 100 are shown: narrow the pattern)");
});

testBoth("glob() lists ignored files only where nothing else matches", async (ws) => {
  await putAll(ws, {
    ".gitignore": "node_modules/\n*.log\n!keep.log\n",
    "node_modules/x/index.js": "",
    "src/index.js": "",
    "src/.gitignore": "/gen\n!wanted.log\n",
    "src/wanted.log": "",
    "src/gen/y.js": "",
    "gen/z.js": "",
    "a.log": "",
    "keep.log": "",
  });
  assertEquals(await globbed(ws, { pattern: "**/*.js" }), ["gen/z.js", "src/index.js"]);
  assertEquals(await globbed(ws, { pattern: "**/*.log" }), ["keep.log", "src/wanted.log"]);
  assertEquals(await globbed(ws, { pattern: "node_modules/**/*.js" }), [
    "(All of these are excluded by ignore files)",
    "node_modules/x/index.js",
  ]);
  assertEquals(await globbed(ws, { pattern: "*.js", path: "src" }), ["src/index.js"]);
});

testBoth("glob() takes unusual names", async (ws) => {
  const names = ["a b.txt", "-v.txt", "ünï.txt", "[x].txt", "new\nline.txt", "$(id).txt"];
  for (const name of names) await ws.put(name, "");
  const text = await ws.text("glob", { pattern: "*.txt" });
  for (const name of names) assertStringIncludes(text, name);
  assertEquals(await globbed(ws, { pattern: "\\[x\\].txt" }), ["[x].txt"]);
  assertEquals(await globbed(ws, { pattern: "-v*" }), ["-v.txt"]);
});

testBoth("glob() and grep() refuse folders that are none", async (ws) => {
  await ws.put("file", "x");
  const missing = { pattern: "*", path: "missing" };
  for (const name of ["glob", "grep"]) {
    assertStringIncludes(await ws.text(name, { ...missing, pattern: "x" }), "does not exist");
  }
  assertStringIncludes(await ws.text("glob", { pattern: "*", path: "file" }), "it is a file");
  assertStringIncludes(
    await ws.text("grep", { pattern: "x", path: "/dev/zero" }),
    "it is a device",
  );
  const braces = "{a,b}".repeat(9);
  assertStringIncludes(await ws.text("glob", { pattern: braces }), "may expand to 256");
});

testBoth("glob() and grep() end when they are cancelled", async (ws) => {
  await ws.put("file", "x");
  ws.signal = AbortSignal.abort();
  for (const name of ["glob", "grep"]) {
    assertStringIncludes(await ws.text(name, { pattern: "x" }), "cancelled");
  }
});

testBoth("glob() does not leave the tree through links", async (ws) => {
  await ws.put("a.txt", "found");
  await Deno.writeTextFile(`${ws.outside}/b.txt`, "found");
  await Deno.symlink(ws.outside, ws.path("link"));
  await Deno.symlink(".", ws.path("loop"));
  assertEquals(await globbed(ws, { pattern: "*.txt" }), ["a.txt"]);
  assertEquals(await ws.text("grep", { pattern: "found" }), "1 match\n\na.txt\n1: found");
});

testBoth("grep() groups matching lines by file, in order of path", async (ws) => {
  await putAll(ws, {
    "b/two.ts": "x\nneedle 2\n",
    "a.ts": "needle\r\nhay\r\nNEEDLE needle\r\n",
    ".hidden": "needle\n",
    ".git/x": "needle\n",
    "no.bin": "needle\0\n",
  });
  assertEquals(
    await ws.text("grep", { pattern: "needle" }),
    "4 matches\n\n.hidden\n1: needle\n\na.ts\n1: needle\n3: NEEDLE needle\n\nb/two.ts\n2: needle 2",
  );
  assertEquals(
    await ws.text("grep", { pattern: "needle$", include: "*.ts" }),
    [
      "2 matches",
      "",
      "a.ts",
      "1: needle",
      "3: NEEDLE needle",
    ].join("\n"),
  );
  assertEquals(await ws.text("grep", { pattern: "nothing" }), "No matches found");
  assertEquals(
    await ws.text("grep", { pattern: "2$", path: "b" }),
    "1 match\n\nb/two.ts\n2: needle 2",
  );
  assertStringIncludes(
    await ws.text("grep", { pattern: "(?i)hay|needle", path: "a.ts" }),
    "3 match",
  );
});

testBoth("grep() leaves out ignored files", async (ws) => {
  await putAll(ws, { ".ignore": "out\n", "out/a.ts": "needle", "in/a.ts": "needle" });
  assertEquals(await ws.text("grep", { pattern: "needle" }), "1 match\n\nin/a.ts\n1: needle");
  assertEquals(
    await ws.text("grep", { pattern: "needle", include: "*.ts" }),
    "1 match\n\nin/a.ts\n1: needle",
  );
});

testBoth("grep() include takes names and paths", async (ws) => {
  await putAll(ws, { "a/x.ts": "n", "a/y.js": "n", "b/x.ts": "n", "b/z.tsx": "n" });
  const files = async (include: string) =>
    (await ws.text("grep", { pattern: "n", include })).match(/^[ab]\/.*$/gm);
  assertEquals(await files("*.{ts,tsx}"), ["a/x.ts", "b/x.ts", "b/z.tsx"]);
  assertEquals(await files("a/*.ts"), ["a/x.ts"]);
});

testBoth("grep() takes patterns that look like options, and reports bad ones", async (ws) => {
  await ws.put("a", "--files\n");
  assertEquals(await ws.text("grep", { pattern: "--files" }), "1 match\n\na\n1: --files");
  assertEquals(await ws.text("grep", { pattern: "-e" }), "No matches found");
  const bad = await ws.call("grep", { pattern: "(" });
  assert(bad.isError);
  assertStringIncludes(await ws.text("grep", { pattern: "a\nb" }), "must not contain a line break");
});

testBoth("grep() shows at most 250 matches and 100,000 characters", async (ws) => {
  await ws.put("a", "x\n".repeat(251));
  const text = await ws.text("grep", { pattern: "x" });
  assertStringIncludes(text, "250 matches\n");
  assertStringIncludes(text, "(Only the first 250 matches are shown");
  await ws.put("a", "x\n".repeat(250));
  assert(!(await ws.text("grep", { pattern: "x" })).includes("Only"));
  await ws.put("a", `${"x".repeat(1990)}\n`.repeat(100));
  const long = await ws.text("grep", { pattern: "x" });
  assertStringIncludes(long, "50 matches\n");
  assert(long.length < 105_000);
});

testBoth("grep() cuts long lines", async (ws) => {
  await ws.put("a", `x${"y".repeat(5_000_000)}\nx\n`);
  const text = await ws.text("grep", { pattern: "^x" });
  assertStringIncludes(text, "2 matches");
  assert(text.length < 2200, `${text.length}`);
});

testBoth("grep() survives a pattern made to backtrack", async (ws) => {
  await ws.put("a", `${"a".repeat(60)}!\n`);
  const text = await ws.text("grep", { pattern: "(a+)+$" });
  assert(text === "No matches found" || text.includes("takes too long"), text);
});

testBoth("glob() and grep() present themselves as searches", async (ws) => {
  await ws.put("a.md", "# title\n");
  assertEquals(ws.tools.presentCall("glob", '{"pattern":"*.md","path":"x"}'), {
    type: "generic",
    title: "Find *.md in x",
    kind: "search",
    locations: [{ path: "x" }],
  });
  assertEquals(ws.tools.presentCall("grep", '{"pattern":"a","include":"*.md"}'), {
    type: "generic",
    title: "Search a (*.md)",
    kind: "search",
  });
  assertEquals(await ws.view("grep", { pattern: "title" }), {
    type: "generic",
    content: [{ type: "text", text: "```\n1 match\n\na.md\n1: # title\n```" }],
  });
});

Deno.test({
  name: "grep() runs ripgrep without the user's configuration",
  ignore: !HAS_RIPGREP,
  async fn() {
    await using ws = await Workspace.open();
    await ws.put("a", "needle\n");
    await ws.put("config", "--files-with-matches\n");
    Deno.env.set("RIPGREP_CONFIG_PATH", ws.path("config"));
    try {
      assertStringIncludes(await ws.text("grep", { pattern: "needle" }), "a\n1: needle");
    } finally {
      Deno.env.delete("RIPGREP_CONFIG_PATH");
    }
  },
});

/** Puts an executable in ripgrep's place. It finds a named pipe `$0.pipe` beside it. */
async function fakeRipgrep(ws: Workspace, script: string): Promise<string> {
  const path = `${ws.outside}/rg`;
  await Deno.writeTextFile(path, `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  const made = await new Deno.Command("mkfifo", { args: [`${path}.pipe`] }).output();
  assert(made.success);
  return path;
}

function isAlive(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false; // There is no such process.
  }
}

Deno.test("grep() gives ripgrep no environment and no stdin", async () => {
  await using ws = await Workspace.open();
  const script = `env | tr '\\n' ' ' > "$0.env"; readlink /proc/self/fd/0 >> "$0.env"; exit 1`;
  const ripgrep = await fakeRipgrep(ws, script);
  await using run = await Workspace.open({ ripgrep });
  Deno.env.set("DSH_TEST_SECRET", "hidden");
  try {
    assertEquals(await run.text("grep", { pattern: "x" }), "No matches found");
  } finally {
    Deno.env.delete("DSH_TEST_SECRET");
  }
  const env = await Deno.readTextFile(`${ripgrep}.env`);
  assert(!env.includes("DSH_TEST_SECRET"), env);
  assertStringIncludes(env, "/dev/null");
});

Deno.test("grep() ends a ripgrep that never stops talking", async () => {
  await using ws = await Workspace.open();
  const ripgrep = await fakeRipgrep(
    ws,
    `echo $$ > "$0.pid"; while :; do printf 'a\\0001:x\\n'; echo noise >&2; done`,
  );
  await using run = await Workspace.open({ ripgrep });
  assertStringIncludes(await run.text("grep", { pattern: "x" }), "Only the first 250 matches");
  assertEquals(isAlive(Number(await Deno.readTextFile(`${ripgrep}.pid`))), false);
});

Deno.test("glob() and grep() end a ripgrep that hangs when they are cancelled", async () => {
  await using ws = await Workspace.open();
  const ripgrep = await fakeRipgrep(ws, `echo $$ > "$0.pipe"; exec sleep 1000`);
  for (const name of ["glob", "grep"]) {
    await using run = await Workspace.open({ ripgrep });
    const controller = new AbortController();
    run.signal = controller.signal;
    const result = run.text(name, { pattern: "x" });
    const pid = Number(await Deno.readTextFile(`${ripgrep}.pipe`));
    assert(isAlive(pid));
    controller.abort();
    assertStringIncludes(await result, "cancelled");
    assertEquals(isAlive(pid), false);
  }
});
