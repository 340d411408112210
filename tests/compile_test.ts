/** The executable: what is packed into it, and that it works where there is nothing else. */
import { LATER_MODULES } from "../acp/later_modules.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileTo, embeddedPackages, findBase, GRANTS, hostTarget, problemOf } from "./compile.ts";
import { mergeChunks, terminalOutput } from "./helpers/frames.ts";
import { ModelServer } from "./helpers/model_server.ts";
import { answer, call, text } from "./helpers/model_turn.ts";
import { readModules } from "./helpers/modules.ts";
import { type AgentWorld, startAgent } from "./helpers/start_agent.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const decoder = new TextDecoder();
const target = hostTarget();

/** Nothing answers here: what goes to a registry or through a proxy fails. */
const NOWHERE = "http://127.0.0.1:9/";
const CUT_OFF = {
  NPM_CONFIG_REGISTRY: NOWHERE,
  JSR_URL: NOWHERE,
  HTTP_PROXY: NOWHERE,
  HTTPS_PROXY: NOWHERE,
  NO_PROXY: "127.0.0.1",
};

async function runScript(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly text: string }> {
  const { DENORT_BIN: _, ...inherited } = Deno.env.toObject();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", join(ROOT, "tests/compile.ts"), ...args],
    clearEnv: true,
    env: { ...inherited, NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "dsh-acp-test-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The npm packages that the program's modules name, those imported late included, and theirs. */
async function packagesOfProgram(): Promise<string[]> {
  const found = new Set<string>();
  for (const module of ["mod.ts", ...LATER_MODULES.map((path) => join("acp", path))]) {
    for (const name of await packagesOf(module)) found.add(name);
  }
  return [...found].sort();
}

async function packagesOf(module: string): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--no-lock", "--json", module],
    cwd: ROOT,
    stdin: "null",
  }).output();
  assert(success, decoder.decode(stderr));
  const graph = JSON.parse(decoder.decode(stdout)) as {
    readonly modules: readonly { readonly npmPackage?: string }[];
    readonly npmPackages: Readonly<
      Record<string, { readonly name: string; readonly dependencies: readonly string[] }>
    >;
  };
  const found = new Map<string, string>();
  const visit = (id: string): void => {
    const entry = graph.npmPackages[id];
    if (!entry || found.has(id)) return;
    found.set(id, entry.name);
    for (const dependency of entry.dependencies) visit(dependency);
  };
  for (const { npmPackage } of graph.modules) if (npmPackage !== undefined) visit(npmPackage);
  return [...found.values()];
}

Deno.test("deno task compile refuses a DENORT_BIN that is no base runtime", async () => {
  assert(target);
  await inFolder(async (folder) => {
    const { code, text } = await runScript(["--target", target.platform, "--output", folder], {
      DENORT_BIN: Deno.execPath(),
    });
    assertEquals(code, 1, text);
    assertStringIncludes(text, "what it was built on is no base runtime");
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), [], "nothing is left behind");
  });
});

Deno.test("compileTo() packs the packages the program's modules name, and no other", async () => {
  assert(target);
  // Packing does not care what it packs behind, so Deno itself will do.
  await inFolder(async (folder) => {
    const build = await compileTo(target, join(folder, target.file), Deno.execPath());
    assert(build.type === "built", JSON.stringify(build));
    const packages = build.packages.map(({ name }) => name);
    assertEquals(packages, await packagesOfProgram());
    for (const name of ["@ai-sdk/deepseek", "@ai-sdk/anthropic", "unbash", "diff", "ignore"]) {
      assert(packages.includes(name), `${name}, which is loaded late, is in it`);
    }
    assert(!packages.some((name) => name.startsWith("@deno/")), "npm:@deno/kv is not in it");
  });
});

Deno.test("embeddedPackages() reads the tree of deno compile", () => {
  const report = [
    "Embedded Files",
    "",
    "a",
    "├─┬ .deno_compile_node_modules (24.91MB - 24.3MB unique)",
    "│ └─┬ localhost (24.91MB - 24.3MB unique)",
    "│   ├── @scope/one/* (8.49MB - 8.49MB unique)",
    "│   ├─┬ @many (7.62MB - 7.18MB unique)",
    "│   │ ├── two/* (2.55MB)",
    "│   │ └─┬ three (417.4KB)",
    "│   │   ├── 1.0.0/* (1KB)",
    "│   │   └── 2.0.0/* (1KB)",
    "│   └── four/9.0.0/* (603.88KB - 526.7KB unique)",
    "├── bash/* (299.11KB)",
    "└── mod.ts (3.98KB)",
  ].join("\n");
  assertEquals(embeddedPackages(report), [
    { name: "@scope/one", size: "8.49MB" },
    { name: "@many/two", size: "2.55MB" },
    { name: "@many/three", size: "1KB" },
    { name: "four", size: "603.88KB" },
  ]);
});

Deno.test("deno task compile says so when the base runtime cannot be had", async () => {
  assert(target);
  await inFolder(async (folder) => {
    const args = ["--target", target.platform, "--output", join(folder, "dist")];
    const alone = await runScript(args, { ...CUT_OFF, DENO_DIR: folder, DENORT_BIN: "" });
    assertEquals(alone.code, 1, alone.text);
    assertStringIncludes(alone.text, `${target.platform}: not built, as `);
    assertStringIncludes(alone.text, 'DENORT_BIN names no file: ""');
    const missing = await runScript(args, { ...CUT_OFF, DENO_DIR: folder });
    assertEquals(missing.code, 1, missing.text);
    assertStringIncludes(
      missing.text,
      "its base runtime cannot be downloaded from https://dl.deno",
    );
    assertStringIncludes(missing.text, "1 of 1 not built.");
    const wrong = await runScript(["--target", "plan9"], {});
    assertEquals(wrong.code, 2, wrong.text);
    assertStringIncludes(wrong.text, "usage: ");
  });
});

Deno.test("everything the program imports late is a literal or in the list that is packed", async () => {
  const source = await readModules(new URL("../", import.meta.url), [
    "mod.ts",
    "acp",
    "session",
    "tools",
    "bash",
  ]);
  const computed = source.flatMap(({ path, code }) =>
    [...code.matchAll(/\bimport\(\s*([^"'\s)][^)]*)\)/g)].map(([, what]) => `${path}: ${what}`)
  );
  // The first is what a user names at run time. The last stands for npm:@deno/kv, which an
  // executable never needs: it has Deno.openKv.
  assertEquals(computed, [
    "acp/_load_plugins.ts: specifier",
    "acp/serve.ts: path",
    "session/kv.ts: fallback",
  ]);
});

Deno.test("the list that is packed names every module the program imports later", async () => {
  const source = await Deno.readTextFile(new URL("../acp/serve.ts", import.meta.url));
  const named = [...source.matchAll(/readonly "(\.{1,2}\/[^"]+)": typeof import/g)];
  assertEquals(named.map(([, path]) => path).sort(), [...LATER_MODULES].sort());
});

/** The first way of use: a model, its tools, an end, and the session in a new process. */
async function useIt(command: readonly string[], env: Record<string, string | undefined>) {
  await using model = ModelServer.start([
    answer(
      call("w", "write", { file_path: "made.txt", content: "one\ntwo\n" }),
      call("e", "edit", { file_path: "made.txt", old_string: "two", new_string: "three" }),
      call("b", "bash", { command: "cat made.txt; exit 3" }),
      call("g", "grep", { pattern: "three" }),
    ),
    answer(text("Done.")),
  ]);
  await using world: AgentWorld = await startAgent({
    model,
    env: { ...CUT_OFF, DSH_KV: undefined, DENO_COVERAGE_DIR: undefined, ...env },
    client: { command },
  });
  const { client } = world;
  const sessionId = await world.newSession();
  // `cat made.txt; exit 3` must see the write and the edit: calls run in the model's order.
  assertEquals(stopReason(await client.prompt(sessionId, "go")), "end_turn");
  const live = shown(client.updatesOf(sessionId));
  assertEquals(await Deno.readTextFile(world.path("made.txt")), "one\nthree\n");
  assertEquals(terminalOutput(client.updatesOf(sessionId), "b"), "one\nthree\n");
  assertStringIncludes(JSON.stringify(live), '"exit_code":3');
  assertEquals((await client.close()).code, 0);

  const again = await world.spawn();
  await again.call("session/load", { sessionId, cwd: world.workspace, mcpServers: [] });
  assertEquals(shown(again.updatesOf(sessionId)), live);
  assertEquals(stopReason(await again.prompt(sessionId, "!cat made.txt")), "end_turn");
  assertStringIncludes(JSON.stringify(again.updatesOf(sessionId)), "one\\nthree\\n");
  assertEquals((await again.close()).code, 0);
}

function stopReason(end: Awaited<ReturnType<AgentWorld["client"]["prompt"]>>): unknown {
  return end.type === "result" ? end.result["stopReason"] : end.error;
}

function shown(updates: Parameters<typeof mergeChunks>[0]) {
  const kinds = ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"];
  return mergeChunks(updates.filter((one) => kinds.includes(String(one["sessionUpdate"]))));
}

Deno.test("with the executable's grants the program is of use, without a network", async () => {
  const flags = [...GRANTS, "--no-lock", "--cached-only", "--no-prompt"];
  await useIt([Deno.execPath(), "run", ...flags, join(ROOT, "mod.ts")], {
    // Deno's cache of packages is one per registry.
    NPM_CONFIG_REGISTRY: Deno.env.get("NPM_CONFIG_REGISTRY"),
  });
});

const base = target
  ? await findBase(target)
  : { type: "missing", reason: `there is no target ${Deno.build.target}` } as const;

Deno.test({
  name: base.type === "ready"
    ? "the executable is of use by itself: no Deno, no cache, no network"
    : `the executable is of use by itself (ignored: ${base.reason})`,
  ignore: base.type === "missing",
  fn: () =>
    inFolder(async (folder) => {
      assert(target);
      const executable = join(folder, target.file);
      const build = await compileTo(target, executable);
      assert(build.type === "built", JSON.stringify(build));
      assertEquals(await problemOf(executable), undefined);
      const cache = join(folder, "deno");
      await useIt([executable], { DENO_DIR: cache, TMPDIR: folder });
      assertEquals(await Deno.stat(cache).then(() => true, () => false), false, "no cache is made");
      const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
      assertEquals(names, [target.file], "nothing is left in the folder for temporary files");
    }),
});
