import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openKv } from "../../session/kv.ts";
import type { JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { hang } from "../helpers/model_turn.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

async function storedKeys(kv: string): Promise<string[]> {
  const database = await openKv(kv);
  try {
    const found: string[] = [];
    for await (const { key } of database.list({ prefix: [] })) found.push(JSON.stringify(key));
    return found;
  } finally {
    database.close();
  }
}

/** The folders that sessions have in the data folder. */
async function folders(agent: AgentWorld): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${agent.env["XDG_DATA_HOME"]}/dsh-acp`)) {
    if (isDirectory && name !== "credentials") names.push(name);
  }
  return names;
}

async function listed(client: AcpClient): Promise<JsonObject[]> {
  return (await client.call("session/list", {}))["sessions"] as JsonObject[];
}

/** Its output is too long to keep, and goes to a file. */
const LONG = "!seq 400000";

Deno.test("session/delete takes all of a closed session, and only of that one", async () => {
  await using agent = await startAgent();
  const { client } = agent;
  const kept = await agent.newSession();
  await client.prompt(kept, "!echo kept");
  const before = await storedKeys(agent.kv);
  const sessionId = await agent.newSession();
  await client.prompt(sessionId, LONG);
  await client.call("session/close", { sessionId });
  assertEquals(await client.call("session/delete", { sessionId }), {});
  assertEquals(await storedKeys(agent.kv), before);
  assertEquals((await listed(client)).map((session) => session["sessionId"]), [kept]);
  const load = { sessionId, cwd: agent.workspace, mcpServers: [] };
  const answered = await client.request("session/load", load);
  assert(answered.type === "error");
  assertStringIncludes(answered.error.message, "sessionId must name a stored session");
});

Deno.test("session/delete of what is not there succeeds, and does so again", async () => {
  await using agent = await startAgent();
  const { client } = agent;
  const sessionId = await agent.newSession();
  await client.prompt(sessionId, "!true");
  for (const id of [sessionId, sessionId, crypto.randomUUID(), "", "../..", "x".repeat(5_000)]) {
    assertEquals(await client.call("session/delete", { sessionId: id }), {});
  }
  assertEquals(await storedKeys(agent.kv), []);
  const wrong = await client.request("session/delete", { sessionId: 7 });
  assert(wrong.type === "error");
  assertEquals(wrong.error.code, -32602);
});

Deno.test("session/delete of a session that is open here ends it first, its files too", async () => {
  await using agent = await startAgent();
  const { client } = agent;
  const sessionId = await agent.newSession();
  const other = await agent.newSession();
  await client.prompt(other, LONG);
  const kept = await folders(agent);
  await client.prompt(sessionId, LONG);
  assertEquals((await folders(agent)).length, kept.length + 1);
  const running = client.prompt(sessionId, "!echo begun; sleep 60");
  await client.nextUpdate((update) => JSON.stringify(update).includes("begun\\n"));
  assertEquals(await client.call("session/delete", { sessionId }), {});
  const ended = await running;
  assert(ended.type === "result");
  assertEquals(ended.result, { stopReason: "cancelled" });
  assertEquals(await folders(agent), kept);
  assertEquals((await storedKeys(agent.kv)).filter((key) => key.includes(sessionId)), []);
  const answered = await client.request("session/prompt", {
    sessionId,
    prompt: [{ type: "text", text: "!true" }],
  });
  assert(answered.type === "error");
  assertStringIncludes(answered.error.message, "sessionId must name an open session");
  assertEquals((await client.prompt(other, "!true")).type, "result");
});

Deno.test("session/delete in the middle of a model's answer leaves nothing", async () => {
  await using model = ModelServer.start([hang()]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const running = agent.client.prompt(sessionId, "Say something");
  await model.request(0);
  await agent.client.call("session/delete", { sessionId });
  const ended = await running;
  assert(ended.type === "result");
  assertEquals(ended.result, { stopReason: "cancelled" });
  assertEquals(await storedKeys(agent.kv), []);
});

Deno.test("session/delete removes the files that a killed process left", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, LONG);
  const [folder] = await folders(agent);
  assert(folder?.startsWith(`dsh-${sessionId.slice(0, 13)}-`), folder);
  agent.client.kill("SIGKILL");
  await agent.client.exited;
  assertEquals(await folders(agent), [folder]);
  const second = await agent.spawn();
  await second.call("session/delete", { sessionId });
  assertEquals(await folders(agent), []);
  assertEquals(await storedKeys(agent.kv), []);
});

Deno.test("a loaded session removes what its killed process left, and nobody else's", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  const other = await agent.newSession();
  for (const id of [sessionId, other]) {
    await agent.client.prompt(
      id,
      "!mkdir -p $TMPDIR/a && touch $TMPDIR/a/b && chmod 500 $TMPDIR/a",
    );
  }
  agent.client.kill("SIGKILL");
  await agent.client.exited;
  const left = await folders(agent);
  assertEquals(left.length, 2);
  const second = await agent.spawn();
  const params = { sessionId, cwd: agent.workspace, mcpServers: [] };
  await second.call("session/load", params);
  await second.prompt(sessionId, "!echo again");
  const now = await folders(agent);
  assertEquals(now.length, 2);
  assertEquals(now.filter((name) => left.includes(name)), [
    left.find((name) => name.startsWith(`dsh-${other.slice(0, 13)}-`)),
  ]);
  await second.call("session/close", { sessionId });
  assertEquals((await folders(agent)).length, 1);
});

Deno.test("session/delete refuses a session that another process has open", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "!echo one");
  const before = await storedKeys(agent.kv);
  const second = await agent.spawn();
  const answered = await second.request("session/delete", { sessionId });
  assert(answered.type === "error");
  assertEquals(answered.error.code, -32602);
  assertStringIncludes(answered.error.message, "sessionId must not be open elsewhere");
  assertStringIncludes(answered.error.message, `pid ${agent.client.pid}`);
  assertEquals(await storedKeys(agent.kv), before);
  assertEquals((await agent.client.prompt(sessionId, "!echo two")).type, "result");
  await agent.client.call("session/close", { sessionId });
  assertEquals(await second.call("session/delete", { sessionId }), {});
  assertEquals(await listed(agent.client), []);
});

Deno.test("session/delete and session/load at the same time: deleted, or loaded", async () => {
  await using agent = await startAgent();
  const { client, workspace: cwd } = agent;
  for (const order of [0, 1]) {
    const sessionId = await agent.newSession();
    await client.prompt(sessionId, "!true");
    await client.call("session/close", { sessionId });
    const requests: [string, JsonObject][] = [
      ["session/delete", { sessionId }],
      ["session/load", { sessionId, cwd, mcpServers: [] }],
    ];
    if (order === 1) requests.reverse();
    const answers = await Promise.all(
      requests.map(([name, params]) => client.request(name, params)),
    );
    assertEquals(answers.map(({ type }) => type), ["result", "error"]);
    const { error } = answers[1] as { error: { message: string } };
    assertStringIncludes(error.message, "must not be loading or being deleted already");
    const there = (await listed(client)).some((session) => session["sessionId"] === sessionId);
    assertEquals(there, order === 1);
  }
});
