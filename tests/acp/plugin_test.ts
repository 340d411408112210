import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { loadPlugin } from "../../acp/_load_plugins.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { cardOf, PermissionDesk, toolResults } from "../helpers/permission_desk.ts";
import { programCommand } from "../helpers/program.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const EXAMPLE = join(ROOT, "tests/fixtures/plugin_example.ts");

/** The text of a plugin with one tool, which says `hello`. */
function plugin(name = "hello", more = ""): string {
  return `export default ({ z, tool, textResult }) => ({
    tools: [tool({
      name: ${JSON.stringify(name)},
      description: "Says hello.",
      parameters: z.object({ who: z.string() }),
      execute: ({ who }) => Promise.resolve(textResult("hello " + who)),
      presentCall: ({ who }) => ({ type: "generic", title: "Greet " + who }),
    })],
    ${more}
  });`;
}

/** A world whose program is started with plugins, which are files of its workspace. */
async function start(
  model: ModelServer,
  files: Readonly<Record<string, string>>,
  flags: readonly string[] = Object.keys(files).map((name) => `--plugin=./${name}`),
) {
  return await startAgent({ model, files, client: { command: [...programCommand(), ...flags] } });
}

function toolNames(body: ReturnType<typeof Object>): string[] {
  return (body["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name);
}

function linesOf({ client }: AgentWorld): string[] {
  return client.stderr.filter((line) => line.includes("Plugin "));
}

/** The plugins that the session told its user about. Updates may be merged. */
function notices({ client }: AgentWorld): string[] {
  const shown = client.updates.filter(({ update }) => update["sessionUpdate"] !== "tool_call")
    .map(({ update }) => JSON.stringify(update)).join("\n");
  return [...shown.matchAll(/Plugin \\"(.*?)\\"/g)].map(([, name]) => name!);
}

Deno.test("the README's plugin: its tool is called, presented and approved, live and on load", async () => {
  await using model = ModelServer.start([
    answer(
      call("c1", "ticket", { number: 7 }),
      call("c2", "bash", {
        command: "true",
        sandbox_permissions: "danger-full-access",
        justification: "because",
      }),
    ),
    answer(text("done")),
  ]);
  await using world = await start(model, { "tickets/7.md": "It is slow." }, ["--plugin", EXAMPLE]);
  const sessionId = await world.newSession();
  // What the plugin leaves to the user comes to the user, and nothing else.
  const desk = new PermissionDesk(world.client, "reject-once");
  assertEquals((await world.client.prompt(sessionId, "go")).type, "result");
  assertEquals(desk.calls, ["c2"]);
  assertStringIncludes(toolResults(model.requests[1]!.body)["c1"]!, "It is slow.");
  assertEquals(cardOf(world.client, "c1")[0]?.["title"], "Ticket 7");
  await world.client.close();

  const again = await world.spawn();
  await again.call("session/load", { sessionId, cwd: world.workspace, mcpServers: [] });
  assertEquals(cardOf(again, "c1")[0]?.["title"], "Ticket 7");

  const readme = await Deno.readTextFile(join(ROOT, "README.md"));
  const example = (await Deno.readTextFile(EXAMPLE)).trim();
  assertStringIncludes(readme, example.replace('"@dsh/acp"', '"jsr:@dsh/acp"'));
  assert(example.split("\n").length < 30);
});

Deno.test("several plugins, by flag or variable, as functions or objects; what they print is no frame", async () => {
  await using model = ModelServer.start([
    answer(call("a", "one", { who: "a" }), call("b", "two", {}), call("c", "one", { who: 1 })),
    answer(text("done")),
  ]);
  const files = {
    "one.js": `console.log("noise while loading");\n${plugin("one")}`,
    "two.ts": `import { z } from "zod";
      const name: string = "two";
      export const plugin = { tools: [{
        name, description: "Prints.", parameters: z.object({}),
        execute() {
          console.log("noise from a tool");
          Deno.stdout.writeSync(new TextEncoder().encode("noise from stdout\\n"));
          throw new Error("it broke");
        },
        presentCall() { throw new Error("it cannot"); },
      }] };`,
  };
  // The bare "zod" of a module elsewhere is not this program's; one inside its folder is.
  await using world = await startAgent({
    model,
    files: { ...files, "two.ts": files["two.ts"].replace('"zod"', '"npm:zod@^4.6.7"') },
    env: { DSH_PLUGINS: "./one.js, ./two.ts" },
  });
  const sessionId = await world.newSession();
  assertEquals((await world.client.prompt(sessionId, "go")).type, "result");
  const told = toolResults(model.requests[1]!.body);
  assertEquals(told["a"], "hello a");
  assertStringIncludes(told["b"]!, "Error: it broke");
  assertStringIncludes(told["c"]!, "The arguments of one are invalid. who:");
  assertEquals(cardOf(world.client, "b")[0]?.["title"], "two");
  const names = toolNames(model.requests[0]!.body);
  assert(names.includes("one") && names.includes("two") && names.includes("read"), `${names}`);
  await world.client.close();
  assertEquals(world.client.problems, []);
  assertEquals(linesOf(world), []);
  const printed = world.client.stderr.join("\n");
  for (const noise of ["while loading", "from a tool", "from stdout"]) {
    assertStringIncludes(printed, `noise ${noise}`);
  }
});

const BROKEN: readonly (readonly [file: string, content: string, words: RegExp])[] = [
  ["syntax.ts", "export default {", /syntax\.ts/],
  ["throws.ts", 'throw new Error("no database\\nhere");', /no database$/],
  ["import.ts", 'import "./nowhere.ts";', /nowhere\.ts/],
  ["nothing.ts", "export const other = 1;", /no default export and none "plugin"/],
  ["factory.ts", "export default () => { throw new Error('not today'); };", /not today/],
  ["number.ts", "export default 1;", /must be an object with tools or approve; it is number/],
  ["typo.ts", "export default { tool: [] };", /it has "tool"; a plugin has tools and approve/],
  ["list.ts", "export default { tools: {} };", /tools must be a list; it is object/],
  ["name.ts", 'export default { tools: [{ name: "a b" }] };', /tools\[0\]\.name must match/],
  ["about.ts", 'export default { tools: [{ name: "a" }] };', /description of the tool "a"/],
  [
    "schema.ts",
    'export default { tools: [{ name: "a", description: "b", parameters: {} }] };',
    /parameters of the tool "a" must be a zod schema/,
  ],
  [
    "json.ts",
    'export default ({ z }) => ({ tools: [{ name: "a", description: "b", parameters: z.object({ d: z.date() }), execute() {} }] });',
    /cannot be written as JSON Schema/,
  ],
  [
    "body.ts",
    'export default ({ z }) => ({ tools: [{ name: "a", description: "b", parameters: z.object({}) }] });',
    /execute of the tool "a" must be a function; it is undefined/,
  ],
  [
    "twice.ts",
    'export default ({ z }) => { const t = { name: "a", description: "b", parameters: z.object({}), execute() {} }; return { tools: [t, t] }; };',
    /two tools called "a"/,
  ],
  ["approve.ts", 'export default { approve: "yes" };', /approve must be a function; it is "yes"/],
];

Deno.test("a plugin that cannot be used is told of once, on stderr and in the session, which works", async () => {
  await using model = ModelServer.start([
    answer(call("a", "hello", { who: "you" })),
    answer(text("one")),
    answer(text("two")),
  ]);
  const files = Object.fromEntries(BROKEN.map(([file, content]) => [file, content]));
  const flags = [
    ...Object.keys(files).map((name) => `--plugin=./${name}`),
    "--plugin=./missing.ts",
    "--plugin=good.ts",
    "--plugin=./good.ts",
  ];
  await using world = await start(model, { ...files, "good.ts": plugin() }, flags);
  const sessionId = await world.newSession();
  assertEquals((await world.client.prompt(sessionId, "go")).type, "result");
  assertEquals(toolResults(model.requests[1]!.body)["a"], "hello you");
  const told = notices(world).length;
  assertEquals(told, BROKEN.length + 2);
  await world.client.prompt(sessionId, "again");
  assertEquals(notices(world).length, told);
  await world.newSession();
  await world.client.close();
  const lines = linesOf(world);
  assertEquals(lines.length, BROKEN.length + 2, lines.join("\n"));
  for (const [file, , words] of BROKEN) {
    const line = lines.find((one) => one.startsWith(`dsh-acp: Plugin "./${file}" is not used: `));
    assertMatch(line ?? `nothing about ${file}`, words);
  }
  assertMatch(lines.find((line) => line.includes("./missing.ts")) ?? "", /missing\.ts/);
  assertMatch(
    lines.find((line) => line.includes('"good.ts"')) ?? "",
    /A file is named with \.\/ in front: \.\/good\.ts/,
  );
});

Deno.test("a plugin whose tool has a taken name is not used, the others are", async () => {
  await using model = ModelServer.start([answer(text("done"))]);
  const files = { "a.js": plugin("read"), "b.js": plugin("mine"), "c.js": plugin("mine") };
  await using world = await start(model, files);
  await world.client.prompt(await world.newSession(), "go");
  const names = toolNames(model.requests[0]!.body);
  assertEquals(names.filter((name) => name === "read" || name === "mine"), ["read", "mine"]);
  assertEquals(
    linesOf(world).map((line) => /Plugin "(.*?)".*called "(\w+)"/.exec(line)?.slice(1)),
    [["./a.js", "read"], ["./c.js", "mine"]],
  );
  assertEquals(notices(world).length, 2);
});

Deno.test("a plugin that never loads holds a session up for 10 s, and no longer", async () => {
  await using model = ModelServer.start([answer(text("done"))]);
  await using world = await start(model, {
    "hangs.js": "await new Promise(() => setInterval(() => {}, 9e6));",
  });
  const started = performance.now();
  const sessionId = await world.newSession();
  assert(performance.now() - started < 15_000);
  assertEquals((await world.client.prompt(sessionId, "go")).type, "result");
  assertStringIncludes(linesOf(world)[0]!, "it did not load within 10 s");
  assertEquals((await world.client.close()).code, 0);
});

Deno.test("an approver that fails or says nonsense leaves the request to the user; the first asked decides", async () => {
  const asks = (id: string, kind: string) => call(id, "hello", { who: kind });
  const asking = plugin("hello").replace(
    "presentCall",
    "authorize: ({ who }) => ({ type: 'ask', reason: who }), presentCall",
  );
  await using model = ModelServer.start([
    answer(asks("yes", "fine"), asks("no", "bad"), asks("throw", "throws"), asks("odd", "odd")),
    answer(text("done")),
  ]);
  await using world = await start(model, {
    "tools.js": asking,
    "first.js": `export default { approve: async ({ reason }) => {
      if (reason === "throws") throw new Error("no idea");
      return { fine: "allowed_once", bad: "rejected", odd: "perhaps" }[reason] ?? "delegate";
    } };`,
    "second.js": 'export default { approve: async () => "delegate" };',
  });
  const desk = new PermissionDesk(world.client, "allow-once");
  assertEquals((await world.client.prompt(await world.newSession(), "go")).type, "result");
  assertEquals(desk.calls, ["throw", "odd"]);
  const told = toolResults(model.requests[1]!.body);
  assertEquals([told["yes"], told["throw"], told["odd"]], [
    "hello fine",
    "hello throws",
    "hello odd",
  ]);
  assert(!told["no"]!.includes("hello"), told["no"]);
  const lines = linesOf(world).join("\n");
  assertStringIncludes(lines, 'Plugin "./first.js": approve failed: no idea');
  assertStringIncludes(lines, "it answered perhaps");
});

Deno.test("Deno's permissions hold: a plugin that may not be read is a sentence, not a question", async () => {
  const granted = ({ name }: Deno.PermissionDescriptor) => name !== "read";
  const loaded = await loadPlugin("./x.ts", { cwd: "/work", standalone: false, granted });
  assert(loaded.type === "failed");
  assertStringIncludes(loaded.message, `add ${join("/work", "x.ts")} to --allow-read`);
});

Deno.test("an executable loads one file of JavaScript, and says so of everything else", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "ok.js"), `// näme\n${plugin()}`);
    await Deno.writeTextFile(join(folder, "imports.js"), `import "./ok.js";\n${plugin()}`);
    const load = (name: string) =>
      loadPlugin(name, { cwd: folder, standalone: true, granted: () => true });
    const ok = await load("./ok.js");
    assert(ok.type === "loaded", JSON.stringify(ok));
    assertEquals(ok.plugin.tools?.map(({ name }) => name), ["hello"]);
    assertEquals((await load(pathToFileURL(join(folder, "ok.js")).href)).type, "loaded");
    for (
      const [name, words] of [
        ["./mine.ts", "one file of JavaScript"],
        ["npm:zod", "from files only"],
        ["./imports.js", "./ok.js"],
        ["./missing.js", "No such file"],
      ] as const
    ) {
      const failed = await load(name);
      assert(failed.type === "failed", name);
      assertStringIncludes(failed.message, words);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
