/** How MCP servers are started, watched and ended. */
import {
  assert,
  assertEquals,
  assertFalse,
  assertLess,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../tools/json.ts";
import { chunkText } from "../helpers/frames.ts";
import { fileMade } from "../helpers/file_made.ts";
import { fixtureServer } from "../helpers/mcp_fixture.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { PermissionDesk, toolResults } from "../helpers/permission_desk.ts";
import { processesLeft, processesWith } from "../helpers/processes.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

const ignore = Deno.build.os !== "linux";
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function results(model: ModelServer): Record<string, string> {
  return toolResults(model.requests.at(-1)?.body ?? {});
}

function offered(model: ModelServer): string[] {
  const tools = (model.requests.at(-1)?.body["tools"] ?? []) as JsonObject[];
  return tools.map((tool) => String((tool["function"] as JsonObject)["name"]));
}

/** A script that runs the server of `config`, and leaves a `proof` first. */
async function script(path: string, proof: string, config: JsonObject): Promise<void> {
  const words = [config["command"], ...config["args"] as string[]].map((word) => `'${word}'`);
  const lines = `#!/bin/sh\n: > '${proof}'\nexec ${words.join(" ")}\n`;
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, lines, { mode: 0o755 });
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test({
  name: "a bare command is not what stands in the workspace; a path is the user's own word",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([answer(text("Done."))]);
    await using agent = await startAgent({ model });
    const proof = (name: string) => `${agent.home}/proof-${name}`;
    await script(agent.path("bin/planted-server"), proof("planted"), fixtureServer("a"));
    await script(`${agent.home}/bin/good-server`, proof("good"), fixtureServer("b"));
    await script(agent.path("bin/good-server"), proof("wrong"), fixtureServer("b"));
    await script(agent.path("bin/own-server"), proof("own"), fixtureServer("c"));
    const more = `${agent.home}/more`;
    await script(`${more}/planted-server`, proof("more"), fixtureServer("a"));
    const PATH = `${agent.path("bin")}:bin:${more}:${agent.home}/bin:${agent.env["PATH"]}`;
    const client = await agent.spawn({ env: { ...agent.env, PATH } });
    const sessionId = await client.newSession(agent.workspace, {
      additionalDirectories: [more],
      mcpServers: [
        { name: "a", command: "planted-server", args: [], env: [] },
        { name: "b", command: "good-server", args: [], env: [] },
        { name: "c", command: "bin/own-server", args: [], env: [] },
      ],
    });
    await client.prompt(sessionId, "go");
    assert(offered(model).includes("mcp__b__text") && offered(model).includes("mcp__c__text"));
    assertFalse(await exists(proof("planted")));
    assertFalse(await exists(proof("wrong")));
    assertFalse(await exists(proof("more")));
    assertStringIncludes(
      chunkText(client.updatesOf(sessionId)),
      'MCP server "a": could not be connected: there is no program "planted-server" on the PATH',
    );
  },
});

Deno.test({
  name: "a server is given the user's environment without the program's own secrets",
  ignore,
  fn: async () => {
    const key = "sk-a-key-of-some-length";
    await using model = ModelServer.start([
      answer(call("e", "mcp__s__env", {})),
      answer(text(".")),
    ]);
    await using agent = await startAgent({
      model,
      env: {
        DEEPSEEK_API_KEY: key,
        OPENAI_API_KEY: "none",
        SAME_KEY: key,
        GITHUB_TOKEN: "of-the-user",
        DSH_MODEL: "deepseek/deepseek-v4-flash",
        EMPTY: "none",
      },
    });
    const server = { ...fixtureServer("s"), env: [{ name: "OWN_TOKEN", value: "configured" }] };
    const sessionId = await agent.newSession({ mcpServers: [server] });
    await agent.client.prompt(sessionId, "go");
    const env = JSON.parse(results(model)["e"] ?? "{}");
    const { GITHUB_TOKEN, OWN_TOKEN, EMPTY, HOME } = env;
    assertEquals([GITHUB_TOKEN, OWN_TOKEN, EMPTY, HOME], [
      "of-the-user",
      "configured",
      "none",
      agent.home,
    ]);
    const names = Object.keys(env);
    assertEquals(names.filter((name) => /^DSH_|_API_KEY$|^SAME_KEY$/.test(name)), []);
  },
});

Deno.test({
  name: "tools that a server adds are offered from then on",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([
      answer(call("g", "mcp__s__grow", {})),
      answer(call("n", "mcp__s__grown", {})),
      answer(text("Done.")),
    ]);
    await using agent = await startAgent({ model });
    const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s")] });
    await agent.client.prompt(sessionId, "go");
    assertEquals(results(model)["n"], "grown");
  },
});

Deno.test({
  name: "a server is told that a call was cancelled",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([]);
    await using agent = await startAgent({ model });
    const { client } = agent;
    const file = `${agent.home}/arrived`;
    model.push(
      answer(call("h", "mcp__s__hang", { file })),
      answer(call("c", "mcp__s__cancelled", {})),
      answer(text("Done.")),
    );
    const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s")] });
    const arrived = fileMade(file);
    const pending = client.prompt(sessionId, "go");
    await arrived;
    await client.notify("session/cancel", { sessionId });
    await pending;
    await client.prompt(sessionId, "and?");
    const { cancelled, hanging } = JSON.parse(results(model)["c"] ?? "{}");
    assertEquals(cancelled.length, 1);
    assertEquals(cancelled, hanging);
  },
});

Deno.test({
  name: "in danger-full-access no tool is asked about",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([
      answer(call("a", "mcp__s__change", {})),
      answer(text("Rejected.")),
      answer(call("b", "mcp__s__change", {})),
      answer(text("Done.")),
    ]);
    await using agent = await startAgent({ model });
    const { client } = agent;
    const desk = new PermissionDesk(client, "reject-once");
    const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s")] });
    await client.prompt(sessionId, "go");
    assertNotEquals(results(model)["a"], "change");
    await client.call("session/set_config_option", {
      sessionId,
      configId: "permission",
      value: "danger-full-access",
    });
    await client.prompt(sessionId, "go");
    assertEquals(results(model)["b"], "change");
    assertEquals(desk.calls, ["a"]);
  },
});

for (const method of ["session/load", "session/resume"]) {
  Deno.test({
    name: `servers sent through ${method} are connected`,
    ignore,
    fn: async () => {
      await using model = ModelServer.start([
        answer(text("First.")),
        answer(call("t", "mcp__s__text", { length: 0 })),
        answer(text("Done.")),
      ]);
      await using agent = await startAgent({ model });
      const sessionId = await agent.newSession();
      await agent.client.prompt(sessionId, "go");
      await agent.client.close();
      const client = await agent.spawn();
      const mcpServers = [fixtureServer("s")];
      await client.call(method, { sessionId, cwd: agent.workspace, mcpServers });
      await client.prompt(sessionId, "go");
      assertEquals(results(model)["t"], "HEADTAIL");
    },
  });
}

Deno.test({
  name: "a server that comes late is announced when it is there",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([], { respond: () => answer(text("Hello.")) });
    await using agent = await startAgent({ model });
    const { client } = agent;
    const place = `${agent.home}/ready`;
    const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s", "late", place)] });
    await client.prompt(sessionId, "go");
    const said = () => chunkText(client.updatesOf(sessionId));
    assertStringIncludes(said(), 'MCP server "s": not connected yet');
    await Deno.writeTextFile(place, "");
    // A prompt takes some milliseconds, the server not many more.
    const deadline = performance.now() + 15_000;
    while (!said().includes("is connected now") && performance.now() < deadline) {
      await client.prompt(sessionId, "?");
    }
    assertStringIncludes(said(), 'MCP server "s": is connected now; its tools can be used.');
    assert(offered(model).includes("mcp__s__text"));
    assertEquals(said().split("not connected yet").length, 2);
  },
});

Deno.test({
  name: "a server that ends is named with its reason, and its tools are gone",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([
      answer(call("d", "mcp__s__die", {})),
      answer(call("t", "mcp__s__text", {})),
      answer(text("It is gone.")),
    ]);
    await using agent = await startAgent({ model });
    const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s")] });
    await agent.client.prompt(sessionId, "go");
    const { d = "", t = "" } = results(model);
    assertStringIncludes(d, "Error: ");
    assertStringIncludes(t, 'There is no tool "mcp__s__text"');
    assertStringIncludes(
      chunkText(agent.client.updatesOf(sessionId)),
      'MCP server "s": ended (its process ended with code 3); its tools are gone until the session',
    );
  },
});

/** Starts a session whose server runs; its process carries `mark`. */
async function withServer(mode: "plain" | "stubborn", mark: string) {
  const model = ModelServer.start([answer(call("t", "mcp__s__text", {})), answer(text("Done."))]);
  const agent: AgentWorld = await startAgent({ model });
  const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s", mode, mark)] });
  await agent.client.prompt(sessionId, "go");
  assertEquals((await processesWith(mark)).length, 1);
  return {
    agent,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

for (
  const [signal, mode] of [
    ["SIGTERM", "plain"],
    ["SIGTERM", "stubborn"],
    // What does not end with its stdin is left then: nobody is there to end it.
    ["SIGKILL", "plain"],
  ] as const
) {
  Deno.test({
    name: `${signal} to the program ends a ${mode} server within 2 s`,
    ignore,
    fn: async () => {
      const mark = crypto.randomUUID();
      await using world = await withServer(mode, mark);
      const { client } = world.agent;
      const from = performance.now();
      client.kill(signal);
      const exit = await client.exited;
      assertLess(exit.at - from, 2_000);
      assertEquals(await processesLeft(mark), []);
    },
  });
}

Deno.test({
  name: "a server that Deno does not let be used is named with the permission it needs",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([answer(text("Done."))]);
    await using agent = await startAgent({ model });
    const { host } = new URL(model.url);
    const client = await agent.spawn({
      command: [
        Deno.execPath(),
        "run",
        "--no-lock",
        "--allow-read",
        "--allow-write",
        "--allow-env",
        "--allow-sys",
        "--allow-ffi",
        "--allow-run=bwrap",
        `--allow-net=${host}`,
        `${ROOT}mod.ts`,
      ],
    });
    const sessionId = await client.newSession(agent.workspace, {
      mcpServers: [
        { name: "run", command: "bash", args: [], env: [] },
        { type: "http", name: "net", url: "https://mcp.example.com/mcp", headers: [] },
        { type: "http", name: "bad", url: "mcp", headers: [] },
      ],
    });
    await client.prompt(sessionId, "go");
    const said = chunkText(client.updatesOf(sessionId));
    for (
      const notice of [
        'MCP server "run": was not started: running "bash" is not granted; add it to --allow-run.',
        'MCP server "net": was not connected: reaching mcp.example.com is not granted; add it to --allow-net.',
        'MCP server "bad": url must be an http or https URL: current value is "mcp".',
      ]
    ) assertStringIncludes(said, notice);
  },
});

Deno.test("a server of a type that is not known is refused by name, a program may say its type", async () => {
  await using model = ModelServer.start([answer(text("Done."))]);
  await using agent = await startAgent({ model });
  const named = { type: "stdio", ...fixtureServer("s") };
  const refused = await agent.client.request("session/new", {
    cwd: agent.workspace,
    mcpServers: [named, { type: "websocket", name: "w", url: "ws://127.0.0.1/" }],
  });
  assert(refused.type === "error");
  assertEquals(refused.error.code, -32602);
  assertStringIncludes(
    refused.error.message,
    'mcpServers.1.type must be "http" or "sse", or absent for a program; got "websocket"',
  );
  const sessionId = await agent.newSession({ mcpServers: [named] });
  await agent.client.prompt(sessionId, "go");
  assert(offered(model).includes("mcp__s__text"));
});
