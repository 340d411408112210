import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Json, JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, drop, failure, page, raw, text, wait } from "../helpers/model_turn.ts";
import type { ModelTurn } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

async function refused(client: AcpClient, method: string, params: JsonObject): Promise<string> {
  const answered = await client.request(method, params);
  assert(answered.type === "error", `${method} was not refused`);
  assertEquals(answered.error.code, -32602);
  return answered.error.message;
}

async function promptWorks(client: AcpClient, sessionId: string): Promise<void> {
  const answered = await client.prompt(sessionId, "!echo still here");
  assertEquals(answered.type, "result");
}

Deno.test("session/new refuses a cwd that is no existing absolute directory", async () => {
  await using agent = await startAgent({ files: { "a.txt": "a" } });
  const rules: readonly (readonly [Json, string])[] = [
    ["work", 'cwd must be an absolute path; got "work"'],
    ["", 'cwd must be an absolute path; got ""'],
    [agent.path("missing"), "cwd must be an existing directory"],
    [agent.path("a.txt"), "cwd must be an existing directory"],
    [7, "cwd is invalid"],
  ];
  for (const [cwd, rule] of rules) {
    const message = await refused(agent.client, "session/new", { cwd, mcpServers: [] });
    assertStringIncludes(message, rule);
    assertStringIncludes(message, JSON.stringify(cwd));
  }
  await promptWorks(agent.client, await agent.newSession());
});

Deno.test("session/prompt refuses what it cannot use, and the next prompt works", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  const rules: readonly (readonly [Json, string])[] = [
    [[], "prompt must not be empty"],
    [[{ type: "text", text: " \n" }], "prompt must not be empty"],
    [
      [{ type: "text", text: "look" }, image],
      "prompt[1].type must be text, resource or resource_link",
    ],
    [
      [{ type: "hologram" }],
      'prompt[0].type must be text, image, resource or resource_link; got "hologram"',
    ],
    [[{ type: "text" }], "prompt.0.text is invalid"],
    ["text", "prompt is invalid"],
  ];
  for (const [prompt, rule] of rules) {
    const message = await refused(agent.client, "session/prompt", { sessionId, prompt });
    assertStringIncludes(message, rule);
  }
  await promptWorks(agent.client, sessionId);
});

Deno.test("methods that name a session refuse one that is not open", async () => {
  await using agent = await startAgent();
  const { client, workspace } = agent;
  const sessionId = crypto.randomUUID();
  const prompt = [{ type: "text", text: "hi" }];
  for (
    const [method, params] of [
      ["session/prompt", { sessionId, prompt }],
      ["session/close", { sessionId }],
      ["session/set_config_option", { sessionId, configId: "permission", value: "x" }],
    ] as const
  ) {
    const message = await refused(client, method, params);
    assertStringIncludes(message, `sessionId must name an open session; got "${sessionId}"`);
  }
  const load = { sessionId, cwd: workspace, mcpServers: [] };
  assertStringIncludes(await refused(client, "session/load", load), "must name a stored session");
  await client.notify("session/cancel", { sessionId });
  await promptWorks(client, await agent.newSession());
});

Deno.test("session/load refuses a foreign cwd and a session that is open", async () => {
  await using agent = await startAgent({ files: { "sub/a.txt": "a" } });
  const { client, workspace } = agent;
  const sessionId = await agent.newSession();
  const open = await refused(client, "session/load", { sessionId, cwd: workspace, mcpServers: [] });
  assertStringIncludes(open, "must not be open on this connection already");
  await client.call("session/close", { sessionId });
  const foreign = { sessionId, cwd: agent.path("sub"), mcpServers: [] };
  const message = await refused(client, "session/load", foreign);
  assertStringIncludes(message, `cwd must be the session's own, "${workspace}"`);
  await client.call("session/load", { sessionId, cwd: `${workspace}/sub/..`, mcpServers: [] });
  await promptWorks(client, sessionId);
});

Deno.test("session/prompt refuses a second one in flight, and the first goes on", async () => {
  const gate = Promise.withResolvers<void>();
  await using model = ModelServer.start([answer(text("one"), wait(gate.promise), text(" two"))]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const first = agent.client.prompt(sessionId, "hi");
  await agent.client.nextUpdate((update) => update["sessionUpdate"] === "agent_message_chunk");
  const second = { sessionId, prompt: [{ type: "text", text: "again" }] };
  const message = await refused(agent.client, "session/prompt", second);
  assertStringIncludes(message, "must have no prompt in flight");
  gate.resolve();
  const answered = await first;
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "end_turn" });
  await promptWorks(agent.client, sessionId);
});

Deno.test("malformed and oversized lines get an error and do not end the connection", async () => {
  await using agent = await startAgent({ client: { strict: false } });
  const { client } = agent;
  const sessionId = await agent.newSession();
  const errors = (code: number) =>
    client.frames.filter(({ message }) => (message?.["error"] as JsonObject)?.["code"] === code);
  await client.writeRaw("{nope\n[1]\n\n42\n");
  await client.until(
    () => errors(-32700).length === 1 && errors(-32600).length === 2 || undefined,
    "x",
  );
  const filler = "x".repeat(1024 * 1024);
  await client.writeRaw(`{"jsonrpc":"2.0","id":"large","method":"session/prompt","params":{"p":"`);
  for (let written = 0; written < 40; written++) await client.writeRaw(filler);
  await client.writeRaw('"}}\n');
  const large = await client.until(
    () => client.frames.find(({ message }) => message?.["id"] === "large"),
    "the answer to the oversized line",
  );
  assertStringIncludes(large.line, "must be at most 33554432 bytes");
  await promptWorks(client, sessionId);
});

const FAILURES: readonly (readonly [string, ModelTurn, number, RegExp])[] = [
  ["401", failure(401), -32000, /DEEPSEEK_API_KEY/],
  ["429", failure(429, { retryAfter: 0 }), -32603, /429/],
  ["500", failure(500), -32603, /500/],
  ["half a stream", answer(text("half"), drop()), -32603, /./],
  ["garbage", answer(raw("data: {nope\n\n")), -32603, /./],
  ["a web page", page("<html>busy</html>"), -32603, /./],
];

for (const [name, turn, code, words] of FAILURES) {
  Deno.test(`a provider that answers ${name} gives an error and loses nothing`, async () => {
    let failing = true;
    await using model = ModelServer.start([], {
      respond: () => failing ? turn : answer(text("fine")),
    });
    await using agent = await startAgent({ model });
    const sessionId = await agent.newSession();
    const answered = await agent.client.prompt(sessionId, "first question");
    assert(answered.type === "error");
    assertEquals(answered.error.code, code);
    assert(words.test(answered.error.message), answered.error.message);
    const key = agent.env["DEEPSEEK_API_KEY"] ?? "no key";
    assert(!answered.error.message.includes(key), "the key is in the message");
    failing = false;
    const next = await agent.client.prompt(sessionId, "second question");
    assert(next.type === "result", JSON.stringify(next));
    const body = JSON.stringify(model.requests.at(-1)?.body);
    assertStringIncludes(body, "first question");
    assertStringIncludes(body, "second question");
  });
}

Deno.test("a prompt without a key is -32000, and a ! prompt works all the same", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(sessionId, "hi");
  assert(answered.type === "error");
  assertEquals(answered.error.code, -32000);
  assertStringIncludes(answered.error.message, "DEEPSEEK_API_KEY");
  await promptWorks(agent.client, sessionId);
});

Deno.test("an unknown protocol version is answered with the one spoken", async () => {
  await using agent = await startAgent({ initialize: false });
  const result = await agent.client.call("initialize", { protocolVersion: 99 });
  assertEquals(result["protocolVersion"], 1);
  assert((result["authMethods"] as readonly Json[]).length > 0);
});
