/** The mapper as another agent uses it: its example in Deno, Node and a bare context. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import * as mapper from "../../../acp/mapper/mod.ts";
import type { Json, JsonObject } from "../../../tools/json.ts";
import { terminalOutput } from "../../helpers/frames.ts";
import { wireProblems } from "../../helpers/wire_schema.ts";
import { commandCards, type CommandEvent } from "../../fixtures/mapper_example.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const EXAMPLE = "tests/fixtures/mapper_example.ts";
const MAPPER = "acp/mapper/mod.ts";
const decoder = new TextDecoder();

/** One command that fails after two pieces of output, and one that is quick and clean. */
const EVENTS: readonly CommandEvent[] = [
  { kind: "begin", id: "a", command: "make test", cwd: "/work/sub" },
  { kind: "output", id: "a", chunk: "one\n" },
  { kind: "begin", id: "b", command: "true", cwd: "/work" },
  { kind: "output", id: "a", chunk: "t\u001b[31mwo\n" },
  { kind: "end", id: "b", output: "", exitCode: 0 },
  { kind: "end", id: "a", output: "one\nt\u001b[31mwo\nthree\n", exitCode: 2 },
  { kind: "output", id: "a", chunk: "after the end" },
];
const CLIENTS = {
  output: { terminal_output: true },
  delta: { terminal_output_delta: true },
  none: {},
} as const;

/** What the example makes of the events for each client, as JSON. */
const RUN = `JSON.stringify(Object.values(${JSON.stringify(CLIENTS)}).map((meta) => {
  const cards = module.exports.commandCards("/work", meta);
  return ${JSON.stringify(EVENTS)}.flatMap(cards);
}))`;

function updatesFor(client: keyof typeof CLIENTS): JsonObject[] {
  const updates = EVENTS.flatMap(commandCards("/work", CLIENTS[client]));
  return JSON.parse(JSON.stringify(updates));
}

/** A file and what it imports as one CommonJS text for any runtime. */
async function bundle(entry: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--no-lock", "--quiet", "--platform", "browser", "--format", "cjs", entry],
    cwd: ROOT,
    stdin: "null",
  }).output();
  assert(success, decoder.decode(stderr));
  return decoder.decode(stdout);
}

Deno.test("the mapper's example is under 40 lines and sends what the protocol's schema allows", async () => {
  const lines = (await Deno.readTextFile(ROOT + EXAMPLE)).trimEnd().split("\n");
  assert(lines.length < 40, `it has ${lines.length}`);
  for (const client of ["output", "delta", "none"] as const) {
    const updates = updatesFor(client);
    assert(updates.length >= 4);
    for (const update of updates) {
      const params: Json = { sessionId: "s", update };
      assertEquals(wireProblems("session/update", "notification", params), []);
    }
  }
});

Deno.test("the mapper's example opens, feeds and ends a terminal card for each command", () => {
  assertEquals(updatesFor("output"), [
    {
      sessionUpdate: "tool_call",
      toolCallId: "a",
      title: "make test",
      kind: "execute",
      status: "in_progress",
      content: [{ type: "terminal", terminalId: "a" }],
      _meta: { terminal_info: { terminal_id: "a", cwd: "/work/sub" } },
    },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "a",
      _meta: { terminal_output: { terminal_id: "a", data: "one\n" } },
    },
    {
      sessionUpdate: "tool_call",
      toolCallId: "b",
      title: "true",
      kind: "execute",
      status: "in_progress",
      content: [{ type: "terminal", terminalId: "b" }],
      _meta: { terminal_info: { terminal_id: "b", cwd: "/work" } },
    },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "a",
      _meta: { terminal_output: { terminal_id: "a", data: "t\u001b[31mwo\n" } },
    },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "b",
      status: "completed",
      _meta: { terminal_exit: { terminal_id: "b", exit_code: 0 } },
    },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "a",
      status: "failed",
      _meta: {
        terminal_output: { terminal_id: "a", data: "three\n" },
        terminal_exit: { terminal_id: "a", exit_code: 2 },
      },
    },
  ]);
});

Deno.test("the mapper's example follows what the client can show", () => {
  const delta = updatesFor("delta");
  assertEquals(terminalOutput(delta, "a"), "one\nt\u001b[31mwo\nthree\n");
  assert(JSON.stringify(delta).includes('"terminal_output_delta"'));
  assertEquals(updatesFor("none").at(-1), {
    sessionUpdate: "tool_call_update",
    toolCallId: "a",
    status: "failed",
    content: [{
      type: "content",
      content: {
        type: "text",
        text: "```console\none\ntwo\nthree\n[exit code: 2]\n```",
      },
    }],
  });
  assert(!JSON.stringify(updatesFor("none")).includes("_meta"));
});

const nodeVersion = await new Deno.Command("node", { args: ["--version"], stdin: "null" }).output()
  .then(({ stdout }) => decoder.decode(stdout).trim(), () => undefined);

Deno.test({
  name: `the mapper and its example run in Node as in Deno${
    nodeVersion === undefined ? " (ignored: there is no node here)" : ""
  }`,
  ignore: nodeVersion === undefined,
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "dsh-acp-test-" });
    try {
      const run = async (code: string, expression: string): Promise<unknown> => {
        const path = `${folder}/bundle.cjs`;
        await Deno.writeTextFile(path, `${code}\nprocess.stdout.write(${expression});\n`);
        const { success, stdout, stderr } = await new Deno.Command("node", {
          args: [path],
          cwd: folder,
          stdin: "null",
        }).output();
        assert(success, decoder.decode(stderr));
        return JSON.parse(decoder.decode(stdout));
      };
      assertEquals(await run(await bundle(EXAMPLE), RUN), all());
      const names = "JSON.stringify(Object.keys(module.exports).sort())";
      assertEquals(await run(await bundle(MAPPER), names), Object.keys(mapper).sort());
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("the mapper and its example run where there is nothing but the language", async () => {
  const run = (code: string, expression: string): unknown => {
    const context = createContext({ module: { exports: {} } });
    const absent = ["Deno", "process", "Buffer", "require", "setTimeout", "URL", "TextDecoder"];
    for (const name of absent) {
      assertEquals(runInContext(`typeof ${name}`, context), "undefined", `${name}: void test`);
    }
    return JSON.parse(String(runInContext(`${code}\n${expression}`, context)));
  };
  assertEquals(run(await bundle(EXAMPLE), RUN), all());
  const names = "JSON.stringify(Object.keys(module.exports).sort())";
  assertEquals(run(await bundle(MAPPER), names), Object.keys(mapper).sort());
});

function all(): JsonObject[][] {
  const results = (["output", "delta", "none"] as const).map(updatesFor);
  assertNotEquals(results[0], results[2]);
  return results;
}

Deno.test("importing the mapper runs its own modules, one of tools/, and no package", async () => {
  const loaded = await runtimeModules(MAPPER);
  const others = loaded.filter((path) => !path.startsWith("acp/mapper/"));
  assertEquals(others, ["tools/control_text.ts"]);
  // The rule can fail: the bridge does load the SDK.
  assert((await runtimeModules("acp/mod.ts")).some((path) => path.startsWith("npm:")));
});

Deno.test("importing the mapper needs no package on the machine and no network", async () => {
  const folder = await Deno.makeTempDir({ prefix: "dsh-acp-test-" });
  try {
    const importing = async (module: string): Promise<string> => {
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-lock", "--no-prompt", module],
        cwd: ROOT,
        clearEnv: true,
        env: {
          DENO_DIR: folder,
          NO_COLOR: "1",
          NPM_CONFIG_REGISTRY: "http://127.0.0.1:9/",
          JSR_URL: "http://127.0.0.1:9/",
        },
        stdin: "null",
      }).output();
      return success ? "imported" : decoder.decode(stderr);
    };
    assertEquals(await importing(MAPPER), "imported");
    assertNotEquals(await importing("acp/mod.ts"), "imported", "the test is void");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

interface GraphModule {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier?: string };
  }[];
}

/** What runs when a module is imported, types left out, as paths of this checkout. */
async function runtimeModules(entry: string): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--no-lock", "--json", entry],
    cwd: ROOT,
    stdin: "null",
  }).output();
  assert(success, decoder.decode(stderr));
  const { modules } = JSON.parse(decoder.decode(stdout)) as { modules: GraphModule[] };
  const root = new URL("../../../", import.meta.url).href;
  const found = new Set<string>();
  const visit = (specifier: string): void => {
    if (found.has(specifier)) return;
    found.add(specifier);
    for (const { isDynamic, code } of find(modules, specifier)?.dependencies ?? []) {
      if (!isDynamic && code?.specifier !== undefined) visit(code.specifier);
    }
  };
  visit(root + entry);
  return [...found].map((specifier) => specifier.replace(root, "")).sort();
}

function find(modules: readonly GraphModule[], specifier: string): GraphModule | undefined {
  return modules.find((module) => module.specifier === specifier);
}
