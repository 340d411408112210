import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { member } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

Deno.test("session/resume goes on with the conversation and replays nothing of it", async () => {
  await using model = ModelServer.start([answer(text("The word is plum.")), answer(text("plum"))]);
  await using agent = await startAgent({ model });
  const created = await agent.client.call("session/new", { cwd: agent.workspace, mcpServers: [] });
  const sessionId = String(created["sessionId"]);
  await agent.client.prompt(sessionId, "Choose a word");
  await agent.client.close();

  const second = await agent.spawn();
  const resumed = await second.call("session/resume", { sessionId, cwd: agent.workspace });
  assertEquals(resumed["configOptions"], created["configOptions"]);
  assertEquals(second.updatesOf(sessionId), []);
  const answered = await second.prompt(sessionId, "Which word was it?");
  assertEquals(answered.type, "result");
  assertEquals(second.updatesOf(sessionId), [
    {
      sessionUpdate: "agent_message_chunk",
      messageId: second.updatesOf(sessionId)[0]?.["messageId"],
      content: { type: "text", text: "plum" },
    },
    { sessionUpdate: "usage_update", used: 15, size: 1_000_000 },
  ]);
  const sent = JSON.stringify(model.requests[1]?.body);
  for (const part of ["Choose a word", "The word is plum.", "Which word was it?"]) {
    assertStringIncludes(sent, part);
  }
});

Deno.test("session/resume answers with the options the session had, as session/load does", async () => {
  await using agent = await startAgent();
  const { client, workspace } = agent;
  const sessionId = await agent.newSession();
  const change = { sessionId, configId: "permission", value: "danger-full-access" };
  const changed = await client.call("session/set_config_option", change);
  await client.prompt(sessionId, "!true");
  await client.call("session/close", { sessionId });
  const resumed = await client.call("session/resume", { sessionId, cwd: workspace });
  await client.call("session/close", { sessionId });
  const loaded = await client.call("session/load", { sessionId, cwd: workspace, mcpServers: [] });
  assertEquals(resumed, loaded);
  assertEquals(resumed["configOptions"], changed["configOptions"]);
});

Deno.test("session/resume refuses what session/load refuses, in the same words", async () => {
  await using agent = await startAgent({ files: { "sub/a.txt": "a" } });
  const { client, workspace } = agent;
  const open = await agent.newSession();
  const closed = await agent.newSession();
  await client.call("session/close", { sessionId: closed });
  const unknown = crypto.randomUUID();
  const cases: readonly (readonly [JsonObject, string])[] = [
    [
      { sessionId: unknown, cwd: workspace },
      `sessionId must name a stored session; got "${unknown}"`,
    ],
    [{ sessionId: "x".repeat(5_000), cwd: workspace }, "sessionId must name a stored session"],
    [{ sessionId: open, cwd: workspace }, "sessionId must not be open on this connection already"],
    [{ sessionId: closed, cwd: "sub" }, 'cwd must be an absolute path; got "sub"'],
    [{ sessionId: closed, cwd: agent.path("missing") }, "cwd must be an existing directory"],
    [{ sessionId: closed, cwd: agent.path("sub") }, "cwd must be the session's own"],
    [{ sessionId: closed }, "cwd is invalid"],
  ];
  for (const [params, rule] of cases) {
    const messages: string[] = [];
    for (const method of ["session/resume", "session/load"]) {
      const answered = await client.request(method, { mcpServers: [], ...params });
      assert(answered.type === "error", method);
      assertEquals(answered.error.code, -32602);
      messages.push(answered.error.message);
    }
    assertStringIncludes(messages[0]!, rule);
    assertEquals(messages[0], messages[1]);
  }
  await client.call("session/resume", { sessionId: closed, cwd: workspace });
  assertEquals((await client.prompt(closed, "!true")).type, "result");
});

Deno.test("of a session/resume and a session/load at the same time, one wins", async () => {
  await using agent = await startAgent();
  const { client, workspace: cwd } = agent;
  const sessionId = await agent.newSession();
  await client.call("session/close", { sessionId });
  const answers = await Promise.all([
    client.request("session/resume", { sessionId, cwd }),
    client.request("session/load", { sessionId, cwd, mcpServers: [] }),
  ]);
  assertEquals(answers.map(({ type }) => type).toSorted(), ["error", "result"]);
  assertEquals((await client.prompt(sessionId, "!true")).type, "result");
});

Deno.test("session/resume names a directory that is gone with the next prompt", async () => {
  await using agent = await startAgent();
  const { client, workspace: cwd } = agent;
  const sessionId = await agent.newSession();
  await client.call("session/close", { sessionId });
  const extras = { mcpServers: [], additionalDirectories: ["/srv/shared"] };
  await client.call("session/resume", { sessionId, cwd, ...extras });
  await client.prompt(sessionId, "!true");
  assertStringIncludes(JSON.stringify(client.updatesOf(sessionId)), "left out: /srv/shared");
});

Deno.test("initialize advertises what sessions can do", async () => {
  await using agent = await startAgent({ initialize: false });
  const result = await agent.client.initialize();
  assertEquals(member(result, "agentCapabilities", "sessionCapabilities"), {
    list: {},
    resume: {},
    close: {},
    delete: {},
    additionalDirectories: {},
  });
});
