import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Json, JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { RpcFailure } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text, wait } from "../helpers/model_turn.ts";
import { PermissionDesk, toolResults } from "../helpers/permission_desk.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";
import { addTurn, readLog } from "../helpers/stored_log.ts";

/** Current values by option id. */
function values(response: JsonObject): Record<string, unknown> {
  const options = response["configOptions"] as JsonObject[];
  return Object.fromEntries(options.map(({ id, currentValue }) => [id, currentValue]));
}

function choices(response: JsonObject, id: string): unknown[] {
  const option = (response["configOptions"] as JsonObject[]).find((one) => one["id"] === id)!;
  return (option["options"] as JsonObject[]).map(({ value }) => value);
}

function set(client: AcpClient, sessionId: string, configId: string, value: Json) {
  return client.call("session/set_config_option", { sessionId, configId, value });
}

function load(client: AcpClient, agent: AgentWorld, sessionId: string): Promise<JsonObject> {
  return client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
}

async function choicesLogged(agent: AgentWorld, sessionId: string): Promise<unknown[]> {
  const logged = await readLog(agent.kv, sessionId);
  return logged.filter(({ type }) => /^(permission|sandbox|approval\/policy|model)/.test(type))
    .map(({ type, data }) => [type, ...Object.values(data)]);
}

const FULL = [
  ["permission/preset", "danger-full-access"],
  ["sandbox/mode", "danger-full-access"],
  ["approval/policy", "never"],
];

Deno.test("an idle choice shows at once, is anchored by the next turn, and stays", async () => {
  await using model = ModelServer.start([answer(text("hi"))]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const response = await set(agent.client, sessionId, "permission", "danger-full-access");
  assertEquals(values(response)["permission"], "danger-full-access");
  assertEquals(choices(response, "permission"), ["workspace-write", "danger-full-access"]);
  await agent.client.prompt(sessionId, "hi");
  await agent.client.close();
  assertEquals(await choicesLogged(agent, sessionId), FULL);
  const client = await agent.spawn();
  assertEquals(values(await load(client, agent, sessionId))["permission"], "danger-full-access");
});

Deno.test("an idle choice is gone after kill -9: the durable one is back", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "!true");
  await set(agent.client, sessionId, "permission", "danger-full-access");
  agent.client.kill("SIGKILL");
  await agent.client.exited;
  assertEquals(await choicesLogged(agent, sessionId), []);
  const client = await agent.spawn();
  assertEquals(values(await load(client, agent, sessionId))["permission"], "workspace-write");
  // What shows is what holds.
  await client.prompt(sessionId, `!touch ${agent.home}/outside`);
  await assertRejects(() => Deno.stat(`${agent.home}/outside`));
});

Deno.test("an idle flip there and back is in force both times, and leaves no trace", async () => {
  await using agent = await startAgent();
  const { client } = agent;
  const sessionId = await agent.newSession();
  await set(client, sessionId, "permission", "danger-full-access");
  const back = await set(client, sessionId, "permission", "workspace-write");
  assertEquals(values(back)["permission"], "workspace-write");
  await client.prompt(sessionId, `!touch ${agent.home}/outside`);
  await assertRejects(() => Deno.stat(`${agent.home}/outside`));
  await client.close();
  assertEquals(await choicesLogged(agent, sessionId), []);
});

Deno.test("a choice inside a turn is durable at once and rules its next command", async () => {
  const gate = Promise.withResolvers<void>();
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const sessionId = await agent.newSession();
  const touch = (id: string) => call(id, "bash", { command: `touch ${agent.home}/${id}` });
  model.push(
    answer(touch("before")),
    answer(text("think"), wait(gate.promise), touch("after")),
    answer(text("done")),
  );
  const pending = client.prompt(sessionId, "go");
  await client.nextUpdate((update) => update["sessionUpdate"] === "agent_message_chunk");
  const response = await set(client, sessionId, "permission", "danger-full-access");
  assertEquals(values(response)["permission"], "danger-full-access");
  gate.resolve();
  assertEquals((await pending).type, "result");
  const told = toolResults(model.requests[2]!.body);
  assertStringIncludes(told["before"]!, "Read-only file system");
  assertEquals(await Deno.stat(`${agent.home}/after`).then(() => true), true);
  await client.close();
  assertEquals(await choicesLogged(agent, sessionId), FULL);
});

Deno.test("a choice inside a turn outlives kill -9 in that turn", async () => {
  await using model = ModelServer.start([
    answer(text("think"), wait(new Promise(() => {}))),
  ]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  agent.client.prompt(sessionId, "go").catch(() => {
    // Killed before it can answer.
  });
  await agent.client.nextUpdate((update) => update["sessionUpdate"] === "agent_message_chunk");
  await set(agent.client, sessionId, "permission", "danger-full-access");
  agent.client.kill("SIGKILL");
  await agent.client.exited;
  const client = await agent.spawn();
  assertEquals(values(await load(client, agent, sessionId))["permission"], "danger-full-access");
});

Deno.test("choices that cross a prompt or each other end as the last one sent", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const sessionId = await agent.newSession();
  const presets = ["danger-full-access", "workspace-write"];
  for (let round = 0; round < 20; round++) {
    const last = presets[round % 2]!;
    const sent = [
      ...round % 3 === 0 ? [set(client, sessionId, "permission", presets[(round + 1) % 2]!)] : [],
      client.prompt(sessionId, "!true"),
      set(client, sessionId, "permission", presets[(round + 1) % 2]!),
      set(client, sessionId, "permission", last),
    ];
    await Promise.all(sent);
    // Choosing what is chosen changes nothing and shows everything.
    const show = () => set(client, sessionId, "model", "deepseek/deepseek-v4-flash");
    assertEquals(values(await show())["permission"], last, `round ${round}`);
    // The next turn anchors what came too late for this one.
    await client.prompt(sessionId, "!true");
    assertEquals(values(await show())["permission"], last, `round ${round}, a turn later`);
  }
  await client.close();
  const logged = await readLog(agent.kv, sessionId);
  let open = false;
  for (const { type } of logged) {
    if (type === "turn/start") open = true;
    assert(open, `${type} lies outside of a turn`);
    if (type === "turn/end") open = false;
  }
  const second = await agent.spawn();
  assertEquals(values(await load(second, agent, sessionId))["permission"], "workspace-write");
});

Deno.test("knobs that match no preset show as custom, which can be left but not chosen", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "!true");
  await agent.client.close();
  await addTurn(agent.kv, sessionId, { type: "sandbox/mode", data: { mode: "read-only" } });
  const client = await agent.spawn();
  const loaded = await load(client, agent, sessionId);
  assertEquals(values(loaded)["permission"], "custom");
  assertEquals(choices(loaded, "permission"), ["workspace-write", "danger-full-access", "custom"]);
  await client.prompt(sessionId, "!touch x");
  await assertRejects(() => Deno.stat(agent.path("x")));
  // What it is already is acknowledged.
  assertEquals(
    values(await set(client, sessionId, "permission", "custom"))["permission"],
    "custom",
  );
  const left = await set(client, sessionId, "permission", "workspace-write");
  assertEquals(choices(left, "permission"), ["workspace-write", "danger-full-access"]);
  const failure = await assertRejects(() => set(client, sessionId, "permission", "custom"));
  assert(failure instanceof RpcFailure);
  assertEquals(failure.code, -32602);
  await client.prompt(sessionId, "!touch x");
  await Deno.stat(agent.path("x"));
});

Deno.test("a bad id, value or type is invalid params that name field, rule and value", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const sessionId = await agent.newSession();
  const cases: [JsonObject, string, string][] = [
    [{ sessionId, configId: "colour", value: "red" }, "configId: must be one of", `"colour"`],
    [{ sessionId, configId: "permission", value: "yolo" }, "value: must be one of", `"yolo"`],
    [{ sessionId, configId: "permission", value: "read-only" }, "value: must be", `"read-only"`],
    [{ sessionId, configId: "model", value: "deepseek" }, "value: must be one of", `"deepseek"`],
    [{ sessionId, configId: "permission", value: true, type: "boolean" }, "value", "true"],
    [{ sessionId: "nobody", configId: "permission", value: "custom" }, "sessionId", `"nobody"`],
    [{ sessionId, value: "custom" }, "configId", "nothing"],
  ];
  for (const [params, rule, value] of cases) {
    const answered = await client.request("session/set_config_option", params);
    assert(answered.type === "error", JSON.stringify(answered));
    assertEquals(answered.error.code, -32602);
    assertStringIncludes(answered.error.message, rule);
    assertStringIncludes(answered.error.message, value);
  }
});

Deno.test("model and effort are selects; a choice reaches the next request and the next process", async () => {
  await using model = ModelServer.start([answer(text("a")), answer(text("b"))]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const created = await client.call("session/new", { cwd: agent.workspace, mcpServers: [] });
  const sessionId = String(created["sessionId"]);
  const options = created["configOptions"] as JsonObject[];
  assertEquals(options.map(({ id, category, type }) => [id, category, type]), [
    ["permission", "mode", "select"],
    ["model", "model", "select"],
    ["reasoning_effort", "thought_level", "select"],
  ]);
  await set(client, sessionId, "model", "deepseek/deepseek-v4-pro");
  const effort = await set(client, sessionId, "reasoning_effort", "max");
  const chosen = {
    permission: "workspace-write",
    model: "deepseek/deepseek-v4-pro",
    reasoning_effort: "max",
  };
  assertEquals(values(effort), chosen);
  await client.prompt(sessionId, "hi");
  assertEquals(model.requests[0]!.body["model"], "deepseek-v4-pro");
  assertEquals(model.requests[0]!.body["reasoning_effort"], "max");
  await client.close();
  const second = await agent.spawn();
  assertEquals(values(await load(second, agent, sessionId)), chosen);
  await second.prompt(sessionId, "hi");
  assertEquals(model.requests[1]!.body["model"], "deepseek-v4-pro");
});

Deno.test("choosing sends no config_option_update: whoever chose has the answer", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  new PermissionDesk(client, "allow-always");
  const sessionId = await agent.newSession();
  const wide = { sandbox_permissions: "danger-full-access", justification: "because" };
  await set(client, sessionId, "model", "deepseek/deepseek-v4-pro");
  model.push(answer(call("c", "bash", { command: "git status", ...wide })), answer(text(".")));
  await client.prompt(sessionId, "hi");
  await set(client, sessionId, "permission", "danger-full-access");
  model.push(answer(text(".")));
  const pending = client.prompt(sessionId, "hi");
  await set(client, sessionId, "model", "deepseek/deepseek-v4-flash");
  await pending;
  await client.close();
  const second = await agent.spawn();
  await load(second, agent, sessionId);
  for (const { update } of [...client.updates, ...second.updates]) {
    assert(update["sessionUpdate"] !== "config_option_update", JSON.stringify(update));
  }
});
