import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { z } from "zod";
import { errorResult, textResult, type Tool, type ToolContext } from "../../tools/tool.ts";
import { ToolRegistry } from "../../tools/tool_registry.ts";
import { policy } from "./_workspace.ts";

const context: ToolContext = {
  sessionId: "session",
  callId: "call",
  cwd: "/",
  signal: new AbortController().signal,
  policy: policy("read-only"),
  output: () => {},
};

interface EchoArgs {
  readonly text: string;
  readonly count?: number | undefined;
}

function echo(overrides: Partial<Tool<EchoArgs>> = {}): Tool<EchoArgs> {
  return {
    name: "echo",
    description: "Repeats a text.",
    parameters: z.object({
      text: z.string().describe("The text"),
      count: z.int().min(1).optional(),
    }),
    execute: (args) => Promise.resolve(textResult(args.text.repeat(args.count ?? 1))),
    ...overrides,
  };
}

async function run(registry: ToolRegistry, name: string, rawArguments: string): Promise<string> {
  const prepared = registry.prepare(name, rawArguments);
  const result = prepared.type === "invalid"
    ? prepared.result
    : await prepared.call.execute(context);
  const [part] = result.content;
  assert(part?.type === "text");
  assertEquals(result.isError, part.text.startsWith("Error: "));
  return part.text;
}

Deno.test("ToolRegistry.register() holds names to the rule and to being unique", () => {
  const registry = new ToolRegistry().register(echo());
  assert(registry.has("echo"));
  assert(!registry.has("other"));
  assertThrows(() => registry.register(echo()), TypeError, 'the name is taken: "echo"');
  for (const name of ["", "a b", "ü", "a.b", "x".repeat(65)]) {
    assertThrows(() => registry.register(echo({ name })), TypeError, `current value is "${name}"`);
  }
  registry.register(echo({ name: "x".repeat(64) }));
});

Deno.test("ToolRegistry.definitions() gives JSON Schemas in order of registration", () => {
  const registry = new ToolRegistry().register(echo({ name: "b" })).register(echo({ name: "a" }));
  assertEquals(registry.definitions().map(({ name }) => name), ["b", "a"]);
  const [definition] = registry.definitions();
  assertEquals(definition?.inputSchema, {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      text: { type: "string", description: "The text" },
      count: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    },
    required: ["text"],
  });
  assertEquals(Object.keys(definition ?? {}), ["name", "description", "inputSchema"]);
});

Deno.test("ToolRegistry.prepare() runs valid calls and lets undeclared keys pass", async () => {
  const registry = new ToolRegistry().register(echo());
  assertEquals(await run(registry, "echo", '{"text":"a","count":2,"extra":true}'), "aa");
});

Deno.test("ToolRegistry.prepare() says what is wrong with a call", async () => {
  const registry = new ToolRegistry().register(echo()).register(
    echo({ name: "none", parameters: z.object({}) as unknown as z.ZodType<EchoArgs> }),
  );
  assertEquals(
    await run(registry, "missing", "{}"),
    'Error: There is no tool "missing". The tools are: echo, none',
  );
  assertEquals(
    await run(new ToolRegistry(), "x", "{}"),
    'Error: There is no tool "x". The tools are: none',
  );
  const json = await run(registry, "echo", '{"text":');
  assert(json.startsWith("Error: The arguments of echo are not JSON: "), json);
  const issues = await run(registry, "echo", '{"count":0}');
  assert(issues.startsWith("Error: The arguments of echo are invalid. text: "), issues);
  assert(issues.includes("; count: "), issues);
  const root = await run(registry, "echo", "[]");
  assert(root.includes("arguments: "), root);
  assertEquals(registry.prepare("none", "  ").type, "ready");
});

Deno.test("ToolRegistry.prepare() turns an exception of the body into an error result", async () => {
  const registry = new ToolRegistry()
    .register(echo({ name: "throws", execute: () => Promise.reject(new Error("broken")) }))
    .register(echo({
      name: "throws-now",
      execute: () => {
        throw "text";
      },
    }));
  assertEquals(await run(registry, "throws", '{"text":""}'), "Error: broken");
  assertEquals(await run(registry, "throws-now", '{"text":""}'), "Error: text");
});

Deno.test("ToolRegistry.prepare() is exclusive and allowed unless the tool says otherwise", async () => {
  const registry = new ToolRegistry().register(echo()).register(echo({
    name: "careful",
    concurrency: "parallel",
    authorize: (args) => ({ type: "ask", reason: args.text }),
  }));
  const plain = registry.prepare("echo", '{"text":"x"}');
  assert(plain.type === "ready");
  assertEquals(plain.call.concurrency, "exclusive");
  assertEquals(await plain.call.authorize(context), { type: "allow" });
  const careful = registry.prepare("careful", '{"text":"x"}');
  assert(careful.type === "ready");
  assertEquals(careful.call.concurrency, "parallel");
  assertEquals(await careful.call.authorize(context), { type: "ask", reason: "x" });
});

Deno.test("ToolRegistry presenters are total", () => {
  const registry = new ToolRegistry().register(echo()).register(echo({
    name: "presented",
    presentCall: (args) => ({ type: "terminal", title: args.text }),
    presentResult: (args, result) => ({
      type: "terminal",
      title: args.text,
      output: `${result.isError}`,
    }),
  })).register(echo({
    name: "broken",
    presentCall: () => {
      throw new Error("no view");
    },
    presentResult: () => {
      throw new Error("no view");
    },
  }));
  const result = errorResult("x");
  assertEquals(registry.presentCall("presented", '{"text":"ls"}'), {
    type: "terminal",
    title: "ls",
  });
  assertEquals(registry.presentResult("presented", '{"text":"ls"}', result), {
    type: "terminal",
    title: "ls",
    output: "true",
  });
  for (const name of ["echo", "broken", "unknown", "presented"]) {
    const bad = '{"text":1}';
    assertEquals(registry.presentCall(name, bad), {
      type: "generic",
      title: name,
      rawInput: { text: 1 },
    });
    assertEquals(registry.presentCall(name, "{"), { type: "generic", title: name, rawInput: "{" });
    assertEquals(registry.presentResult(name, bad, result), { type: "generic" });
    assertEquals(registry.presentResult(name, "{", result), { type: "generic" });
  }
  assertEquals(registry.presentCall("broken", '{"text":"x"}').type, "generic");
  assertEquals(registry.presentResult("broken", '{"text":"x"}', result), { type: "generic" });
});

Deno.test("ToolRegistry disposes what was deferred, last first, and all of it", async () => {
  const released: string[] = [];
  {
    await using registry = new ToolRegistry();
    registry.defer(() => void released.push("first"));
    registry.defer(async () => {
      await Promise.resolve();
      released.push("second");
    });
  }
  assertEquals(released, ["second", "first"]);

  const failing = new ToolRegistry();
  failing.defer(() => void released.push("third"));
  failing.defer(() => Promise.reject(new Error("stuck")));
  await assertRejects(() => failing[Symbol.asyncDispose](), Error, "stuck");
  assertEquals(released.at(-1), "third");
  await failing[Symbol.asyncDispose]();
});
