import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { member, RpcFailure } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import {
  cardOf,
  type Decide,
  DISMISSED,
  PermissionDesk,
  selected,
  statusesOf,
  toolResults,
} from "../helpers/permission_desk.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

/** A command that shows on disk that it ran, where only full access lets it. */
function escaping(agent: AgentWorld, name: string): JsonObject {
  return {
    command: `touch ${agent.home}/${name}`,
    sandbox_permissions: "danger-full-access",
    justification: `To make ${name}`,
  };
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function settled(client: AcpClient, sessionId: string): Promise<unknown> {
  const answered = await client.prompt(sessionId, "go");
  assert(answered.type === "result", JSON.stringify(answered));
  return answered.result["stopReason"];
}

Deno.test("a call waits as pending, its card says why, and runs once it is allowed", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const statuses: string[] = [];
  const desk = new PermissionDesk(client, ({ callId }) => {
    statuses.push(...statusesOf(client, callId));
    return "allow-once";
  });
  model.push(answer(call("c1", "bash", escaping(agent, "made"))), answer(text("done")));
  const sessionId = await agent.newSession();
  assertEquals(await settled(client, sessionId), "end_turn");
  assertEquals(desk.calls, ["c1"]);
  assertEquals(desk.asked[0]!.sessionId, sessionId);
  assertEquals([...new Set(statuses)], ["pending"]);
  assertStringIncludes(desk.asked[0]!.card, "escalate sandbox to danger-full-access: To make made");
  assertStringIncludes(desk.asked[0]!.card, `touch ${agent.home}/made`);
  assertEquals([...new Set(statusesOf(client, "c1"))], ["pending", "in_progress", "completed"]);
  assert(await exists(`${agent.home}/made`));
  const request = client.frames.find(({ message }) =>
    message?.["method"] === "session/request_permission"
  )!;
  const card = client.updates.find(({ update }) => update["toolCallId"] === "c1")!;
  assertLess(card.index, request.index);
  const kinds = (member(request.message, "params")["options"] as JsonObject[])
    .map(({ kind }) => kind);
  assertEquals(kinds, ["allow_once", "allow_always", "reject_once"]);
});

const REFUSALS: readonly (readonly [string, Decide, string])[] = [
  ["reject", () => "reject-once", "the user refused"],
  ["an unknown option", () => "allow-everything", "the user refused"],
  ["the cancelled outcome", () => DISMISSED, "without an answer"],
  ["an error of the client", () => {
    throw new RpcFailure("x", { code: -32603, message: "no dialog here" });
  }, "nobody could be asked"],
  ["a client without the method", () => {
    throw new RpcFailure("x", { code: -32601, message: "Method not found" });
  }, "nobody could be asked"],
  ["a choice of nothing", () => ({ outcome: { outcome: "selected" } }), "the user refused"],
  ["an empty answer", () => ({}), "nobody could be asked"],
];

for (const [name, decide, words] of REFUSALS) {
  Deno.test(`${name} runs nothing, tells the model why, and the session goes on`, async () => {
    await using model = ModelServer.start([]);
    await using agent = await startAgent({ model });
    const { client } = agent;
    const desk = new PermissionDesk(client, decide);
    model.push(answer(call("c1", "bash", escaping(agent, "made"))), answer(text("I see")));
    const sessionId = await agent.newSession();
    assertEquals(await settled(client, sessionId), "end_turn");
    assertEquals(desk.calls, ["c1"]);
    const told = toolResults(model.requests[1]!.body)["c1"]!;
    assertStringIncludes(told, words);
    assertStringIncludes(told, "escalate sandbox to danger-full-access");
    assertStringIncludes(told.toLowerCase(), "nothing was run");
    assertEquals(statusesOf(client, "c1").at(-1), "failed");
    assert(!statusesOf(client, "c1").includes("in_progress"));
    assert(!await exists(`${agent.home}/made`));
    const next = await client.prompt(sessionId, "!echo on");
    assert(next.type === "result");
    assertStringIncludes(JSON.stringify(cardOf(client, "user-command-2")), "on\\n");
  });
}

Deno.test("the preset of full access asks nothing", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({
    model,
    env: { DSH_PERMISSION_MODE: "danger-full-access" },
  });
  const desk = new PermissionDesk(agent.client, "reject-once");
  model.push(
    answer(
      call("c1", "bash", { command: `touch ${agent.home}/one` }),
      call("c2", "write", { file_path: `${agent.home}/two`, content: "2" }),
    ),
    answer(text("done")),
  );
  const sessionId = await agent.newSession();
  assertEquals(await settled(agent.client, sessionId), "end_turn");
  assertEquals(desk.calls, []);
  assert(await exists(`${agent.home}/one`) && await exists(`${agent.home}/two`));
});

Deno.test("allow-always on `git status` covers no command that only begins so, and survives a restart", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  await new Deno.Command("git", { args: ["init", "-q"], cwd: agent.workspace }).output();
  const wide = { sandbox_permissions: "danger-full-access", justification: "why not" };
  const others = [
    "git status; rm x",
    "git status && x",
    "git status || x",
    "git status & x",
    "git status | x",
    "git status > x",
    "git status 2> x",
    "git status < x",
    "git status $(x)",
    "git status `x`",
    "git status <(x)",
    "git status\nx",
    "X=1 git status",
    "(git status)",
    "git -c core.fsmonitor=x status",
    "git stash",
    "! git status",
  ];
  const covered = ["git status", "git status -s", "git status --short ."];
  const sessionId = await agent.newSession();
  const step = (id: string, command: string) => answer(call(id, "bash", { command, ...wide }));

  const desk = new PermissionDesk(agent.client, "allow-always");
  model.push(step("first", "git status"), answer(text(".")));
  await settled(agent.client, sessionId);
  assertEquals(
    desk.asked[0]!.options["allow-always"],
    "Always allow `git status` with danger-full-access",
  );

  desk.decide = () => "reject-once";
  model.push(
    ...covered.map((command, index) => step(`covered-${index}`, command)),
    ...others.map((command, index) => step(`other-${index}`, command)),
    answer(text(".")),
  );
  await settled(agent.client, sessionId);
  assertEquals(desk.calls, ["first", ...others.map((_, index) => `other-${index}`)]);
  assertEquals(statusesOf(agent.client, "covered-1"), ["in_progress", "completed"]);
  await agent.client.close();

  const client = await agent.spawn();
  const later = new PermissionDesk(client, "reject-once");
  await client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  model.push(
    step("again", "git status"),
    step("worse", "git status; rm x"),
    answer(text(".")),
  );
  await settled(client, sessionId);
  assertEquals(later.calls, ["worse"]);
  assertEquals(statusesOf(client, "again").at(-1), "completed");

  const other = await client.newSession(agent.workspace);
  model.push(step("elsewhere", "git status"), answer(text(".")));
  await settled(client, other);
  assertEquals(later.calls, ["worse", "elsewhere"], "an always belongs to its session");
});

Deno.test("allow-always on a write outside covers that folder, the queued writes first", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "dsh-outside-" }));
  try {
    const { client } = agent;
    const desk = new PermissionDesk(
      client,
      ({ callId }) => callId === "w1" ? "allow-always" : "reject-once",
    );
    const write = (id: string, name: string) =>
      call(id, "write", { file_path: `${folder}/${name}`, content: id });
    model.push(
      answer(write("w1", "a"), write("w2", "b"), write("w3", "c"), write("w4", "sub/d")),
      answer(text("done")),
    );
    const sessionId = await agent.newSession();
    await settled(client, sessionId);
    assertEquals(desk.calls, ["w1", "w4"], "the folder below is another scope");
    assertEquals(desk.asked[0]!.options["allow-always"], `Always allow writing in ${folder}`);
    assertStringIncludes(desk.asked[0]!.card, "write outside the workspace");
    assertStringIncludes(desk.asked[0]!.card, `"type":"diff"`);
    for (const [name, id] of [["a", "w1"], ["b", "w2"], ["c", "w3"]]) {
      assertEquals(await Deno.readTextFile(`${folder}/${name}`), id);
    }
    assert(!await exists(`${folder}/sub`));
    model.push(
      answer(call("e1", "edit", { file_path: `${folder}/a`, old_string: "w1", new_string: "e1" })),
      answer(text("done")),
    );
    await settled(client, sessionId);
    assertEquals(await Deno.readTextFile(`${folder}/a`), "e1");
    assertEquals(desk.calls, ["w1", "w4"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the agent's own data and git's hooks are refused to file tools without a question", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const desk = new PermissionDesk(agent.client, "allow-once");
  const data = `${agent.home}/data/dsh-acp`;
  await Deno.symlink(data, agent.path("alias"));
  const paths = [
    `${data}/x`,
    "alias/x",
    agent.kv,
    `${agent.kv}-wal`,
    ".git/hooks/pre-commit",
    ".git/config",
    "../workspace/.git/hooks/x",
  ];
  model.push(
    answer(
      ...paths.map((path, index) =>
        call(`w${index}`, "write", { file_path: path, content: "#!/bin/sh\n" })
      ),
    ),
    answer(text("done")),
  );
  await settled(agent.client, await agent.newSession());
  assertEquals(desk.calls, []);
  const told = toolResults(model.requests[1]!.body);
  for (const [index, path] of paths.entries()) {
    assertStringIncludes(told[`w${index}`]!, "Error: Cannot write", path);
  }
  assert(!await exists(agent.path(".git")));
});

Deno.test("session/cancel while the user is asked answers cancelled, dismisses the dialog and runs nothing", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const arrived = Promise.withResolvers<void>();
  const held = Promise.withResolvers<JsonObject>();
  new PermissionDesk(client, () => {
    arrived.resolve();
    return held.promise;
  });
  model.push(
    answer(
      call("c1", "bash", escaping(agent, "made")),
      call("c2", "bash", escaping(agent, "other")),
    ),
  );
  const sessionId = await agent.newSession();
  const pending = client.prompt(sessionId, "go");
  await arrived.promise;
  const from = performance.now();
  await client.notify("session/cancel", { sessionId });
  const answered = await pending;
  assertLess(answered.at - from, 2_000);
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "cancelled" });
  const request = client.frames.find(({ message }) =>
    message?.["method"] === "session/request_permission"
  )!.message!;
  const dismissal = await client.until(() =>
    client.frames.find(({ message }) => message?.["method"] === "$/cancel_request")
  );
  assertEquals(member(dismissal.message, "params")["requestId"], request["id"]!);
  // Too late: nothing comes of it.
  held.resolve(selected("allow-once"));
  const next = await client.prompt(sessionId, "!echo on");
  assert(next.type === "result");
  assert(!await exists(`${agent.home}/made`));
  assert(!await exists(`${agent.home}/other`));
  for (const id of ["c1", "c2"]) assertEquals(statusesOf(client, id).at(-1), "failed");
  assert(!statusesOf(client, "c1").includes("in_progress"));
});

Deno.test("a session that is closed while the user is asked dismisses the dialog", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const arrived = Promise.withResolvers<void>();
  new PermissionDesk(client, () => {
    arrived.resolve();
    return new Promise<JsonObject>(() => {});
  });
  model.push(answer(call("c1", "bash", escaping(agent, "made"))));
  const sessionId = await agent.newSession();
  const pending = client.prompt(sessionId, "go");
  await arrived.promise;
  await client.call("session/close", { sessionId });
  const answered = await pending;
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "cancelled" });
  await client.until(() =>
    client.frames.find(({ message }) => message?.["method"] === "$/cancel_request")
  );
  assert(!await exists(`${agent.home}/made`));
});

Deno.test("a program killed while the user is asked has not started the call", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const arrived = Promise.withResolvers<void>();
  new PermissionDesk(agent.client, () => {
    arrived.resolve();
    return new Promise<JsonObject>(() => {});
  });
  model.push(answer(call("c1", "bash", escaping(agent, "made"))));
  const sessionId = await agent.newSession();
  agent.client.prompt(sessionId, "go").catch(() => {
    // Killed before it can answer.
  });
  await arrived.promise;
  agent.client.kill("SIGKILL");
  await agent.client.exited;
  const client = await agent.spawn();
  await client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  assertEquals(statusesOf(client, "c1").at(-1), "failed");
  assertStringIncludes(JSON.stringify(cardOf(client, "c1")), "It was not started");
  assert(!await exists(`${agent.home}/made`));
});
