import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { type Answer, mergeChunks } from "../helpers/frames.ts";
import { KvConnectServer } from "../helpers/kv_connect_server.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text, wait } from "../helpers/model_turn.ts";
import { programCommand } from "../helpers/program.ts";
import { type AgentWorld, startAgent, type StartAgentOptions } from "../helpers/start_agent.ts";

const TOKEN = "sk-remote-store-token";

/** The program over a server; a call to it may take a second. */
function start(server: KvConnectServer, options: StartAgentOptions = {}): Promise<AgentWorld> {
  const env = { DSH_KV: server.url, DENO_KV_ACCESS_TOKEN: TOKEN, DSH_KV_TIMEOUT: "1" };
  return startAgent({ ...options, env: { ...env, ...options.env } });
}

function message(answered: Answer): string {
  assert(answered.type === "error", JSON.stringify(answered));
  return `${answered.error.code} ${answered.error.message}`;
}

/** What `session/load` shows, without the user's own messages. */
async function load(client: AcpClient, sessionId: string, cwd: string): Promise<JsonObject[]> {
  const first = client.frames.length - 1;
  await client.call("session/load", { sessionId, cwd, mcpServers: [] });
  const isUser = (update: JsonObject) => update["sessionUpdate"] === "user_message_chunk";
  return mergeChunks(client.updatesOf(sessionId, first).filter((update) => !isUser(update)));
}

function live(client: AcpClient, sessionId: string): JsonObject[] {
  return mergeChunks(client.updatesOf(sessionId));
}

/** With the unstable flag, and as on JSR: without the flag, and without the native library. */
async function commands(folder: string): Promise<readonly (readonly [string, string[]])[]> {
  const root = new URL("../../", import.meta.url);
  const { imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const config = `${folder}/deno.json`;
  await Deno.writeTextFile(config, JSON.stringify({ imports }));
  const plain = [Deno.execPath(), "run", "-A", "--deny-ffi", "--no-lock", "--config", config];
  return [
    ["with Deno.openKv", [...programCommand()]],
    ["without Deno.openKv and ffi", [...plain, new URL("mod.ts", root).href]],
  ];
}

Deno.test("a remote store keeps sessions over a restart, and replay equals the live run", async (t) => {
  await using server = KvConnectServer.start({ token: TOKEN });
  await using model = ModelServer.start([]);
  await using agent = await start(server, { model, files: { "a.txt": "one\n" } });
  for (const [name, command] of await commands(agent.home)) {
    await t.step(name, async () => {
      model.push(
        answer(text("I look."), call(`r-${name}`, "read", { file_path: "a.txt" })),
        answer(text("終端 done")),
      );
      const client = await agent.spawn({ command });
      const sessionId = await client.newSession(agent.workspace);
      assertEquals((await client.prompt(sessionId, "read a.txt")).type, "result");
      // More than one value of the store holds.
      assertEquals((await client.prompt(sessionId, "!seq 30000")).type, "result");
      const shown = live(client, sessionId);
      assertStringIncludes(JSON.stringify(shown), "29999\\n30000\\n");
      await client.close();

      const again = await agent.spawn({ command });
      assertEquals(await load(again, sessionId, agent.workspace), shown);
      assertEquals((await again.prompt(sessionId, "!true")).type, "result");
      await again.close();
      assert(server.size > 10);
    });
  }
});

Deno.test("commands see no token of the store, and the store's commands use it", async () => {
  await using server = KvConnectServer.start({ token: TOKEN });
  await using agent = await start(server);
  const sessionId = await agent.newSession();
  assertEquals((await agent.client.prompt(sessionId, "!env; echo end of it")).type, "result");
  const frames = JSON.stringify(agent.client.frames);
  assertStringIncludes(frames, "end of it");
  assertEquals(frames.includes(TOKEN), false);
  await agent.client.close();

  const [program, ...args] = programCommand();
  const { stdout, stderr } = await new Deno.Command(program!, {
    args: [...args, "export", sessionId],
    env: { ...agent.env },
    clearEnv: true,
  }).output();
  assertStringIncludes(new TextDecoder().decode(stdout), "end of it");
  assertEquals(new TextDecoder().decode(stderr), "");
});

Deno.test("two processes on a remote store: a session has one owner, the others are told", async () => {
  await using server = KvConnectServer.start({ token: TOKEN });
  await using agent = await start(server);
  const second = await agent.spawn();
  const sessionId = await agent.newSession();
  const refused = await second.request("session/load", {
    sessionId,
    cwd: agent.workspace,
    mcpServers: [],
  });
  assertStringIncludes(message(refused), "another process has it open");
  const own = await second.newSession(agent.workspace);
  const turns = await Promise.all([
    agent.client.prompt(sessionId, "!seq 500"),
    second.prompt(own, "!seq 500"),
  ]);
  assertEquals(turns.map(({ type }) => type), ["result", "result"]);
  const shown = live(agent.client, sessionId);
  await agent.client.close();
  assertEquals(await load(second, sessionId, agent.workspace), shown);
});

Deno.test("session/new says why a remote store cannot be opened, and works once it can", async (t) => {
  await using server = KvConnectServer.start({ token: TOKEN });
  const cases: readonly (readonly [string, string, Record<string, string | undefined>])[] = [
    ["a refused token", "refused the token", { DENO_KV_ACCESS_TOKEN: `${TOKEN}-old` }],
    ["no token", "DENO_KV_ACCESS_TOKEN must hold its token", { DENO_KV_ACCESS_TOKEN: undefined }],
    ["http elsewhere", "must be https", { DSH_KV: "http://example.com/db" }],
  ];
  for (const [name, reason, env] of cases) {
    await t.step(name, async () => {
      await using agent = await start(server, { env });
      const params = { cwd: agent.workspace, mcpServers: [] };
      const refused = message(await agent.client.request("session/new", params));
      assertStringIncludes(refused, "-32603 Internal error: Cannot ");
      assertStringIncludes(refused, reason);
      assertEquals(
        (JSON.stringify(agent.client.frames) + agent.client.stderr).includes(TOKEN),
        false,
      );
    });
  }
  await t.step("a host that Deno does not allow", async () => {
    await using agent = await start(server);
    const [deno, run, ...rest] = programCommand();
    const walled = await agent.spawn({ command: [deno!, run!, "--deny-net", ...rest] });
    const params = { cwd: agent.workspace, mcpServers: [] };
    const refused = message(await walled.request("session/new", params));
    assertStringIncludes(refused, `Requires net access to "${new URL(server.url).host}"`);
  });
  await t.step("a server that is away, or never answers", async () => {
    await using agent = await start(server);
    const params = { cwd: agent.workspace, mcpServers: [] };
    await server.stop();
    const away = message(await agent.client.request("session/new", params));
    assertStringIncludes(away, `Cannot reach the session store at ${server.url}`);
    server.resume();
    server.fault = () => "hang";
    const asked = performance.now();
    const silent = message(await agent.client.request("session/new", params));
    assertStringIncludes(silent, "the server does not answer");
    assert(performance.now() - asked < 5_000);
    server.fault = undefined;
    const sessionId = await agent.newSession();
    assertEquals((await agent.client.prompt(sessionId, "!true")).type, "result");
    assertEquals(agent.client.stderr.join("\n").includes("KV Connect"), false);
  });
});

Deno.test("a server that dies in mid-turn ends the turn with an error; back again, all works", async () => {
  await using server = KvConnectServer.start({ token: TOKEN });
  const gate = Promise.withResolvers<void>();
  await using model = ModelServer.start([
    answer(
      text("I run it."),
      call("b", "bash", {
        command: "echo begun; until [ -e go ]; do sleep 0.02; done; echo over",
        description: "Wait",
      }),
    ),
    answer(text("first "), wait(gate.promise), text("second")),
    answer(text("third")),
  ]);
  await using agent = await start(server, { model });
  const { client } = agent;
  const sessionId = await agent.newSession();

  const inTool = client.prompt(sessionId, "run");
  await client.nextUpdate((update) => JSON.stringify(update).includes('"data":"begun'));
  await server.stop();
  await Deno.writeTextFile(agent.path("go"), "");
  const failed = message(await inTool);
  assertStringIncludes(failed, `-32603 Internal error: Cannot reach the session store`);
  // Not only the turn that met it: nothing is lost that was said meanwhile.
  assertStringIncludes(message(await client.prompt(sessionId, "lost")), "Cannot reach");
  server.resume();

  const inAnswer = client.prompt(sessionId, "go on");
  await client.nextUpdate((update) => JSON.stringify(update).includes("first "));
  server.fault = () => ({ status: 503 });
  gate.resolve();
  assertStringIncludes(message(await inAnswer), "503");
  server.fault = undefined;

  assertEquals((await client.prompt(sessionId, "and now")).type, "result");
  const { messages } = model.requests.at(-1)!.body as { messages: JsonObject[] };
  const told = JSON.stringify(messages);
  assertEquals(told.includes("lost"), false);
  assertStringIncludes(told, "go on");
  assertStringIncludes(told, "its outcome is unknown");
  const calls = messages.flatMap((one) => (one["tool_calls"] ?? []) as { id: string }[]);
  const results = messages.filter(({ role }) => role === "tool");
  assertEquals(calls.map(({ id }) => id), results.map((one) => one["tool_call_id"]));
  await client.close();

  const again = await agent.spawn();
  const replayed = JSON.stringify(await load(again, sessionId, agent.workspace));
  assertStringIncludes(replayed, "third");
  assertEquals((await again.prompt(sessionId, "!echo fine")).type, "result");
});

Deno.test("what a dying server kept without saying so is part of the session", async () => {
  await using server = KvConnectServer.start({ token: TOKEN });
  await using agent = await start(server);
  const sessionId = await agent.newSession();
  let dead = false;
  const prompted = agent.client.prompt(
    sessionId,
    "!echo begun; until [ -e go ]; do sleep 0.02; done",
  );
  await agent.client.nextUpdate((update) => JSON.stringify(update).includes('"data":"begun'));
  server.fault = ({ call }) => {
    if (dead) return { status: 503 };
    if (call !== "atomic_write") return undefined;
    dead = true;
    return "lose";
  };
  await Deno.writeTextFile(agent.path("go"), "");
  assertStringIncludes(message(await prompted), "Cannot reach the session store");
  assert(dead);
  server.fault = undefined;
  assertEquals((await agent.client.prompt(sessionId, "!echo next")).type, "result");
  const shown = live(agent.client, sessionId);
  const text = JSON.stringify(shown);
  assertEquals(text.includes("outcome is unknown"), false, text);
  await agent.client.close();
  const again = await agent.spawn();
  assertEquals(await load(again, sessionId, agent.workspace), shown);
});
