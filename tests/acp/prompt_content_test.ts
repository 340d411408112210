import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Json, JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
const IMAGE = { type: "image", data: PIXEL, mimeType: "image/png" };
const SEES = { DSH_MODEL: "deepseek/sees?images=yes", DSH_MODELS: "deepseek/blind" };

function resource(members: JsonObject): JsonObject {
  return { type: "resource", resource: { uri: "file:///w/a", ...members } };
}

function sent(model: ModelServer, request = 0): JsonObject[] {
  const messages = model.requests[request]?.body["messages"] as JsonObject[];
  return messages.filter(({ role }) => role === "user");
}

async function refusal(client: AcpClient, sessionId: string, prompt: Json): Promise<string> {
  const answered = await client.request("session/prompt", { sessionId, prompt });
  assert(answered.type === "error");
  assertEquals(answered.error.code, -32602);
  return answered.error.message;
}

function shown(client: AcpClient, sessionId: string): unknown[] {
  return client.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] === "user_message_chunk")
    .map((update) => update["content"]);
}

Deno.test("embedded resources reach the model, and a load shows the prompt as it was sent", async () => {
  await using model = ModelServer.start([answer(text("Read."))]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const prompt = [
    { type: "text", text: "Compare" },
    resource({ uri: "file:///w/a.ts", mimeType: "text/typescript", text: "const a = 1;" }),
    resource({ mimeType: "application/json; charset=utf-8", blob: btoa('{"b":2}') }),
    resource({ mimeType: "text/plain", blob: btoa("\xff\xfe") }),
    resource({ mimeType: "application/zip", blob: btoa("PK\x03\x04") }),
    resource({ mimeType: "image/png", blob: PIXEL }),
    resource({ mimeType: "image/gif", blob: "no base64" }),
    { type: "resource_link", uri: "file:///w/c.ts", name: "c.ts" },
  ];
  const answered = await agent.client.prompt(sessionId, prompt);
  assertEquals(answered.type, "result");
  const [message] = sent(model);
  const told = String(message?.["content"]);
  for (
    const part of [
      'Compare\n<resource uri="file:///w/a.ts" mimeType="text/typescript">\nconst a = 1;\n</resource>',
      '{"b":2}\n</resource>',
      'mimeType="text/plain": about',
      'mimeType="application/zip": about',
      "[image 1]",
      'mimeType="image/gif": about',
      "images are left out",
      'name="c.ts"',
    ]
  ) assertStringIncludes(told, part);
  assert(!told.includes("UEsDB"), "bytes are named, not sent");
  await agent.client.close();

  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  assertEquals(shown(second, sessionId), prompt);
});

Deno.test("a model that takes images is sent them, after a restart too; another one is told", async () => {
  await using model = ModelServer.start([
    answer(text("A pixel.")),
    answer(text("Still.")),
    answer(text("I see none.")),
  ]);
  await using agent = await startAgent({ model, env: SEES });
  const sessionId = await agent.newSession();
  // Some megabytes: stored in parts.
  const large = { ...IMAGE, mimeType: "image/jpeg", data: "QUJD".repeat(1024 * 1024) };
  const prompt = [{ type: "text", text: "Look: " }, IMAGE, large];
  assertEquals((await agent.client.prompt(sessionId, prompt)).type, "result");
  const expected = [
    { type: "text", text: "Look: \n[image 1]\n\n[image 2]\n" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
    { type: "image_url", image_url: { url: `data:image/jpeg;base64,${large.data}` } },
  ];
  assert(JSON.stringify(sent(model)[0]?.["content"]) === JSON.stringify(expected), "images sent");
  await agent.client.close();

  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  assert(JSON.stringify(shown(second, sessionId)) === JSON.stringify(prompt), "replayed");
  await second.prompt(sessionId, "And now?");
  assert(JSON.stringify(sent(model, 1)[0]?.["content"]) === JSON.stringify(expected), "sent again");
  const value = "deepseek/blind";
  await second.call("session/set_config_option", { sessionId, configId: "model", value });
  assertStringIncludes(await refusal(second, sessionId, [IMAGE]), "model takes no images");
  await second.prompt(sessionId, "And you?");
  assertEquals(
    sent(model, 2)[0]?.["content"],
    "Look: \n[image 1]\n\n[image 2]\n\n[The images are left out, since this model takes none.]",
  );
});

Deno.test("what is advertised follows the model that sessions start with", async () => {
  const cases = [[SEES, true], [{ ...SEES, DSH_MODEL: "deepseek/blind" }, false]] as const;
  for (const [env, image] of cases) {
    await using model = ModelServer.start();
    await using agent = await startAgent({ model, env, initialize: false });
    const { agentCapabilities } = await agent.client.call("initialize", { protocolVersion: 1 });
    assertEquals((agentCapabilities as JsonObject)["promptCapabilities"], {
      image,
      audio: false,
      embeddedContext: true,
    });
  }
});

Deno.test("a prompt that no model could take is refused before anything is logged", async () => {
  await using model = ModelServer.start([answer(text("Yes."))]);
  await using agent = await startAgent({ model, env: SEES });
  const { client } = agent;
  const sessionId = await agent.newSession();
  const say = { type: "text", text: "look" };
  const cases: readonly (readonly [Json, string])[] = [
    [
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      'prompt[1].type must be text, image, resource or resource_link; got "audio"',
    ],
    [{ ...IMAGE, mimeType: "image/tiff" }, "prompt[1].mimeType must be one of image/png"],
    [{ ...IMAGE, data: "no base64!" }, "prompt[1].data must be base64"],
    [{ ...IMAGE, data: "" }, "prompt[1].data must be base64"],
    [
      { ...IMAGE, data: "A".repeat(5 * 1024 * 1024 + 4) },
      "prompt[1].data must have at most 5242880 characters; got 5242884",
    ],
  ];
  for (const [block, rule] of cases) {
    assertStringIncludes(await refusal(client, sessionId, [say, block]), rule);
  }
  assertEquals(client.updatesOf(sessionId), []);
  await client.prompt(sessionId, [say]);
  assertEquals(sent(model).map(({ content }) => content), ["look"]);
});
