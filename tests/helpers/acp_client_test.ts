import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AcpClient, type AcpClientOptions } from "./acp_client.ts";
import { chunkText } from "./frames.ts";
import { programCommand } from "./program.ts";

const COMMAND = programCommand("tests/fixtures/scripted_agent.ts");

function start(options: AcpClientOptions = {}): AcpClient {
  return AcpClient.spawn({ command: COMMAND, ...options });
}

Deno.test("AcpClient speaks with a program over stdio", async () => {
  await using client = start();
  const info = await client.initialize();
  assertEquals(info["protocolVersion"], 1);
  const sessionId = await client.newSession("/");
  const answer = await client.prompt(sessionId, "say héllo");
  assert(answer.type === "result");
  assertEquals(answer.result, { stopReason: "end_turn" });
  assertEquals(chunkText(client.updatesOf(sessionId)), "héllo");
  assert(client.updates.every((update) => update.index < answer.index && update.at <= answer.at));
  const refused = await client.prompt(sessionId, "fail on purpose");
  assert(refused.type === "error");
  assertEquals(refused.error.code, -32602);
  assertEquals((await client.close()).code, 0);
});

Deno.test("AcpClient cancels, and answers what the agent asks", async () => {
  await using client = start();
  await client.initialize();
  const sessionId = await client.newSession("/");
  const turn = client.prompt(sessionId, "wait");
  await client.nextUpdate((update) => update["sessionUpdate"] === "agent_message_chunk");
  await client.notify("session/cancel", { sessionId });
  const answer = await turn;
  assert(answer.type === "result");
  assertEquals(answer.result, { stopReason: "cancelled" });

  client.handle("session/request_permission", (params) => {
    assertEquals(params["sessionId"], sessionId);
    return { outcome: { outcome: "selected", optionId: "yes" } };
  });
  await client.prompt(sessionId, "ask");
  assertStringIncludes(chunkText(client.updatesOf(sessionId, answer.index)), "yes");
});

Deno.test("AcpClient fails the test over a frame that breaks the protocol", async () => {
  const frames: [string, string][] = [
    ["not json", "no JSON object"],
    [`{"id":1}`, "jsonrpc"],
    [`{"jsonrpc":"2.0","method":"session/update","params":{}}`, `"sessionId" is missing`],
    [
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}}`,
      `session "x" was not announced`,
    ],
    [`{"jsonrpc":"2.0","id":99,"result":{}}`, "no request has the id 99"],
  ];
  await Promise.all(frames.map(async ([frame, problem]) => {
    await using client = start();
    await client.initialize();
    const sessionId = await client.newSession("/");
    const error = await assertRejects(() => client.prompt(sessionId, `raw ${frame}`), Error);
    assertStringIncludes(error.message, problem);
  }));
});

Deno.test("AcpClient rethrows at disposal a broken frame that nothing was waiting for", async () => {
  const error = await assertRejects(async () => {
    await using client = start();
    await client.initialize();
    const sessionId = await client.newSession("/");
    const params = { sessionId, prompt: [{ type: "text", text: "raw [1]" }] };
    await client.writeRaw(
      `${JSON.stringify({ jsonrpc: "2.0", id: "mine", method: "session/prompt", params })}\n`,
    );
    await client.until(() => client.problems[0]);
  }, Error);
  assertStringIncludes(error.message, "breaks the protocol");
});

Deno.test("AcpClient lets a writer meet a full pipe while it does not read", async () => {
  await using client = start();
  await client.initialize();
  const sessionId = await client.newSession("/");
  client.pauseReading();
  const turn = client.prompt(sessionId, "flood 2000");
  await client.notify("_ping");
  client.resumeReading();
  const answer = await turn;
  assertEquals(client.updatesOf(sessionId).length, 2000);
  assertEquals(answer.index, client.frames.length - 1);
});

Deno.test("AcpClient tells how the program ended while a request was open", async () => {
  await using client = start();
  await client.initialize();
  const sessionId = await client.newSession("/");
  const error = await assertRejects(() => client.prompt(sessionId, "exit 3"), Error, "code 3");
  assertStringIncludes(error.message, "the agent gives up");
  assertEquals((await client.exited).code, 3);
});

Deno.test("AcpClient kills by signal", async () => {
  await using client = start();
  await client.initialize();
  client.kill("SIGKILL");
  assertEquals((await client.exited).signal, "SIGKILL");
});
