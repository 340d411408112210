import { assertEquals, assertGreater } from "@std/assert";
import { FILE_RULES, SOURCE_RULES, unmappedNames } from "./helpers/architecture_rules.ts";
import { type Module, parseModule, readModules } from "./helpers/modules.ts";

const ROOT = new URL("../", import.meta.url);
const SOURCE = ["mod.ts", "acp", "session", "tools", "bash"];
const source = await readModules(ROOT, SOURCE);
const tests = await readModules(ROOT, ["tests"]);
const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));

for (const [name, rule] of Object.entries(SOURCE_RULES)) {
  Deno.test(`architecture: ${name}`, () => assertEquals(rule(source), []));
}

for (const [name, rule] of Object.entries(FILE_RULES)) {
  Deno.test(`architecture: ${name}`, () => assertEquals(rule([...source, ...tests]), []));
}

Deno.test("architecture: bare names are mapped, and not to jsr.io", () => {
  assertEquals(unmappedNames(source, config.imports), []);
});

Deno.test("architecture: exports name files that exist, and nothing else is at the top", async () => {
  for (const path of Object.values(config.exports)) await Deno.stat(new URL(String(path), ROOT));
  const scripts = (await Array.fromAsync(Deno.readDir(ROOT)))
    .map(({ name }) => name).filter((name) => name.endsWith(".ts"));
  assertEquals(scripts, ["mod.ts"]);
});

/** Modules that break one rule each: what proves that the rules can fail. */
const BREAKING: Readonly<Record<string, readonly Module[]>> = {
  "arrows point one way": [
    parseModule("tools/a.ts", `import type { A } from "../session/a.ts";`),
    parseModule("session/a.ts", `import { A } from "../bash/a.ts";`),
    parseModule("bash/a.ts", `export { A } from "../session/a.ts";`),
    parseModule("acp/a.ts", `import {\n  A,\n} from "../bash/a.ts";`),
    parseModule("session/b.ts", `const a = await import("../acp/a.ts");`),
  ],
  "source imports no tests": [parseModule("bash/a.ts", `import "../tests/a.ts";`)],
  "only acp/ knows the protocol": [
    parseModule("session/a.ts", `import type { A } from "@agentclientprotocol/sdk";`),
    parseModule("tools/a.ts", `import { A } from "@agentclientprotocol/sdk/unstable";`),
  ],
  "acp/mapper/ and what it runs are pure": [
    parseModule("acp/mapper/a.ts", `const a = Deno.cwd();\nimport "../../tools/d.ts";`),
    parseModule("acp/mapper/b.ts", `const a = Date.now();`),
    parseModule("acp/mapper/c.ts", `const a = globalThis["process"];`),
    parseModule("tools/d.ts", `import * as path from "node:path";`),
  ],
  "acp/mapper/ runs only its own modules and those of tools/": [
    parseModule("acp/mapper/a.ts", `import { A, type B } from "../errors.ts";`),
    parseModule("acp/mapper/b.ts", `import { A } from "../../session/a.ts";`),
    parseModule("acp/mapper/c.ts", `import { A } from "zod";`),
  ],
  "the start needs nothing but its own modules and the protocol": [
    parseModule("acp/serve.ts", `import "./a.ts";\nimport "node:path";`),
    parseModule("acp/a.ts", `import { z } from "zod";\nimport type { A } from "yaml";`),
  ],
  "a folder does not import its own barrel": [
    parseModule("tools/a.ts", `import { A } from "./mod.ts";`),
    parseModule("acp/mapper/a.ts", `import type { A } from "../mod.ts";`),
  ],
  "no jsr:, http: or https: module is named": [
    parseModule("tools/a.ts", `import { A } from "jsr:@std/path";`),
  ],
  "nothing prints": [parseModule("tools/a.ts", `console.log(1);`)],
  "there are no cycles": [
    parseModule("tools/a.ts", `import { B } from "./b.ts";`),
    parseModule("tools/b.ts", `import { A } from "./a.ts";`),
  ],
  "files have at most 400 lines": [parseModule("tools/a.ts", "\n".repeat(401))],
  "lines end in LF": [parseModule("tools/a.ts", "a\r\n")],
  "files are named in snake_case": [parseModule("tools/aB.ts", "")],
};

Deno.test("architecture: every rule can fail, once for each module that breaks it", () => {
  for (const [name, rule] of Object.entries({ ...SOURCE_RULES, ...FILE_RULES })) {
    const breaking = BREAKING[name] ?? [];
    assertGreater(breaking.length, 0, name);
    const found = name === "there are no cycles" ? 1 : breaking.length;
    assertEquals(rule(breaking).length, found, name);
  }
  const bare = parseModule("a.ts", `import "@std/path";\nimport "zod/v4";\nimport "node:fs";`);
  assertEquals(unmappedNames([bare], { "@std/path": "jsr:@std/path@1", "zod": "npm:zod" }), [
    `a.ts imports "@std/path"`,
  ]);
});

Deno.test("architecture: type-only imports and comments are told from code", () => {
  const module = parseModule(
    "acp/mapper/a.ts",
    [
      ` * import { A } from "../a.ts";`,
      `import { type A, type B } from "../b.ts";`,
      `export type { C } from "../c.ts";`,
      `export * from "./d.ts";`,
      `import e, { type F } from "./e.ts";`,
      `type G = import("./g.ts").G;`,
    ].join("\n"),
  );
  assertEquals(module.imports.map(({ target, typeOnly }) => [target, typeOnly]), [
    ["acp/b.ts", true],
    ["acp/c.ts", true],
    ["acp/mapper/d.ts", false],
    ["acp/mapper/e.ts", false],
    ["acp/mapper/g.ts", true],
  ]);
});
