import { assert, assertEquals } from "@std/assert";
import type { Json, JsonObject } from "../../../tools/json.ts";
import type { AssistantPart } from "../../../session/events.ts";
import type { Model, ModelMessage, ModelRequest } from "../../../session/model/model.ts";
import { ModelServer } from "../../helpers/model_server.ts";
import { answer, call, page, raw, reasoning, text } from "../../helpers/model_turn.ts";
import { ask, compatible, deepseek, KEY } from "./_ask.ts";

/** The body a server got for this request. */
async function bodyOf(
  make: (url: string) => Model,
  changes: Partial<ModelRequest>,
): Promise<JsonObject> {
  await using server = ModelServer.start([answer(text("ok"))]);
  await ask(make(server.url), changes);
  return (await server.request(0)).body;
}

async function messagesOf(
  make: (url: string) => Model,
  messages: readonly ModelMessage[],
): Promise<JsonObject[]> {
  return (await bodyOf(make, { messages })).messages as Json as JsonObject[];
}

const CALL: AssistantPart = {
  type: "tool_call",
  callId: "c1",
  name: "read",
  arguments: '{"path": "a"}',
};

function toolTurn(...content: readonly AssistantPart[]): ModelMessage[] {
  return [
    { role: "user", text: "first" },
    { role: "assistant", parts: [...content, CALL] },
    {
      role: "tool",
      results: [{
        callId: "c1",
        name: "read",
        content: [{ type: "text", text: "A" }, { type: "text", text: "B" }],
        isError: false,
      }],
    },
  ];
}

const LATER: readonly ModelMessage[] = [
  {
    role: "assistant",
    parts: [{ type: "reasoning", text: "done thinking" }, { type: "text", text: "Done." }],
  },
  { role: "user", text: "second" },
];

for (const make of [deepseek, compatible]) {
  Deno.test(`stream() of ${make.name} sends back the reasoning of every message of a tool turn`, async () => {
    const messages = await messagesOf(make, [
      ...toolTurn({ type: "reasoning", text: "I thi" }, { type: "reasoning", text: "nk" }),
      ...LATER,
    ]);
    assertEquals(messages.map(({ role }) => role), [
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    assertEquals(messages[2]?.reasoning_content, "I think");
    assertEquals(messages[4]?.reasoning_content, "done thinking");
    assertEquals(messages[3], { role: "tool", tool_call_id: "c1", content: "A\nB" });
  });

  Deno.test(`stream() of ${make.name} keeps the reasoning of a turn without tools to itself`, async () => {
    const messages = await messagesOf(make, [{ role: "user", text: "first" }, ...LATER]);
    assert(!messages[2]?.reasoning_content, JSON.stringify(messages[2]));
    assertEquals(messages[2]?.content, "Done.");
  });

  Deno.test(`stream() of ${make.name} sends errors, empty results and parallel results`, async () => {
    const other: AssistantPart = { type: "tool_call", callId: "c2", name: "bash", arguments: "{}" };
    const messages = await messagesOf(make, [
      { role: "user", text: "first" },
      { role: "assistant", parts: [CALL, other] },
      {
        role: "tool",
        results: [
          {
            callId: "c1",
            name: "read",
            content: [{ type: "text", text: "Error: no such file" }],
            isError: true,
          },
          { callId: "c2", name: "bash", content: [], isError: false },
        ],
      },
    ]);
    assertEquals(messages.slice(3), [
      { role: "tool", tool_call_id: "c1", content: "Error: no such file" },
      { role: "tool", tool_call_id: "c2", content: "(no output)" },
    ]);
    assertEquals((messages[2]?.tool_calls as Json as JsonObject[]).map(({ id }) => id), [
      "c1",
      "c2",
    ]);
  });

  Deno.test(`stream() of ${make.name} sends arguments that are no object as an object`, async () => {
    for (const [written, sent] of [["{oops", "{oops"], ["[1]", "[1]"], ['"x"', '"x"']] as const) {
      const messages = await messagesOf(make, [
        { role: "user", text: "first" },
        { role: "assistant", parts: [{ ...CALL, arguments: written }] },
        { role: "tool", results: [{ callId: "c1", name: "read", content: [], isError: true }] },
      ]);
      assertEquals(JSON.parse(argumentsOf(messages[2])), { invalid_arguments: sent });
    }
  });

  Deno.test(`stream() of ${make.name} sends a call without arguments as an empty object`, async () => {
    const messages = await messagesOf(make, [
      { role: "user", text: "first" },
      { role: "assistant", parts: [{ ...CALL, arguments: "", name: "weird name/x" }] },
      { role: "tool", results: [{ callId: "c1", name: "read", content: [], isError: true }] },
    ]);
    assertEquals(argumentsOf(messages[2]), "{}");
    const [first] = messages[2]?.tool_calls as Json as JsonObject[];
    assertEquals((first?.function as JsonObject).name, "weird_name_x");
  });

  Deno.test(`stream() of ${make.name} never sends a message without content`, async () => {
    const messages = await messagesOf(make, [
      { role: "user", text: "first" },
      { role: "assistant", parts: [{ type: "text", text: " \n" }] },
      { role: "user", text: "second" },
    ]);
    assertEquals(messages[2]?.content, "(no answer)");
  });

  Deno.test(`stream() of ${make.name} sends the tools, the key and streaming options`, async () => {
    await using server = ModelServer.start([answer(text("ok"))]);
    const inputSchema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { path: { type: "string" } },
    };
    const tools = [{ name: "read", description: "Reads.", inputSchema }];
    await ask(make(server.url), { tools });
    const { body, headers } = await server.request(0);
    assertEquals(body.tools, [{
      type: "function",
      function: {
        name: "read",
        description: "Reads.",
        parameters: { type: "object", properties: { path: { type: "string" } } },
      },
    }]);
    assertEquals(body.stream, true);
    assertEquals(body.stream_options, { include_usage: true });
    assertEquals(headers.get("authorization"), `Bearer ${KEY}`);
    assertEquals("reasoning_effort" in body, false);
  });
}

function argumentsOf(message: JsonObject | undefined): string {
  const [first] = message?.tool_calls as Json as JsonObject[];
  return (first?.function as JsonObject).arguments as string;
}

Deno.test("stream() of compatible sends valid arguments exactly as the model wrote them", async () => {
  const messages = await messagesOf(compatible, toolTurn());
  assertEquals(argumentsOf(messages[2]), '{"path": "a"}');
});

const IMAGE = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;

function imageTurn(): ModelMessage[] {
  const [user, assistant] = toolTurn();
  return [user!, assistant!, {
    role: "tool",
    results: [{
      callId: "c1",
      name: "read",
      content: [{ type: "text", text: "A picture" }, IMAGE],
      isError: false,
    }],
  }];
}

Deno.test("stream() sends an image to a compatible server in a user message after the results", async () => {
  const messages = await messagesOf(compatible, imageTurn());
  assertEquals(messages.slice(3), [
    {
      role: "tool",
      tool_call_id: "c1",
      content: "A picture\n[image/png: see the next message]",
    },
    {
      role: "user",
      content: [
        { type: "text", text: "The image that read returned (call c1):" },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      ],
    },
  ]);
});

Deno.test("stream() sends an image to a DeepSeek model only if it can see", async () => {
  const vision = (url: string) => deepseek(url, { model: "deepseek-v4-flash-vision-exp" });
  assertEquals((await messagesOf(vision, imageTurn()))[3]?.content, [
    { type: "text", text: "A picture" },
    { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
  ]);
  assertEquals(
    (await messagesOf(deepseek, imageTurn()))[3]?.content,
    "A picture\n[image/png: left out, since this model takes no image here]",
  );
});

Deno.test("stream() sends the reasoning effort in the provider's words", async () => {
  const body = await bodyOf(deepseek, { reasoningEffort: "max" });
  assertEquals([body.thinking, body.reasoning_effort], [{ type: "enabled" }, "max"]);
  assertEquals((await bodyOf(compatible, { reasoningEffort: "low" })).reasoning_effort, "low");
  const unknown = await bodyOf(deepseek, { reasoningEffort: "enormous" });
  assertEquals("reasoning_effort" in unknown, false);
});

/** Runs one answer and sends it back with a result, as the turn loop does. */
async function roundTrip(make: (url: string) => Model, chunks: string): Promise<JsonObject> {
  await using server = ModelServer.start([page(chunks, "text/event-stream"), answer(text("ok"))]);
  const model = make(server.url);
  const parts: AssistantPart[] = [];
  for (const part of await ask(model)) {
    const last = parts.at(-1);
    if (part.type === "reasoning_metadata") {
      const { metadata } = part;
      if (last?.type === "reasoning" && !last.metadata) {
        parts[parts.length - 1] = { ...last, metadata };
      } else parts.push({ type: "reasoning", text: "", metadata });
    } else if (part.type === "failure") throw new Error(part.failure.message);
    else if (part.type !== "finish") parts.push(part);
  }
  // The log holds JSON.
  const stored = JSON.parse(JSON.stringify(parts)) as AssistantPart[];
  const results = stored.filter((part) => part.type === "tool_call")
    .map(({ callId, name }) => ({ callId, name, content: [], isError: false }));
  await ask(model, {
    messages: [
      { role: "user", text: "Hello" },
      { role: "assistant", parts: stored },
      { role: "tool", results },
    ],
  });
  return ((await server.request(1)).body.messages as Json as JsonObject[])[2]!;
}

function chunk(delta: JsonObject, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ choices })}\n\n`;
}

const TOOL_CALL = {
  index: 0,
  id: "c1",
  type: "function",
  function: { name: "read", arguments: "{}" },
};

Deno.test("stream() of compatible sends reasoning back in the field it came in", async () => {
  for (
    const [field, other] of [["reasoning", "reasoning_content"], [
      "reasoning_content",
      "reasoning",
    ]] as const
  ) {
    const message = await roundTrip(
      compatible,
      chunk({ [field]: "I " }) + chunk({ [field]: "think" }) +
        chunk({ tool_calls: [TOOL_CALL] }) + chunk({}, "tool_calls"),
    );
    assertEquals(message[field], "I think");
    assertEquals(other in message, false);
  }
});

Deno.test("stream() of compatible sends the signature of a call back with the call", async () => {
  const signature = { google: { thought_signature: "c2lnbmVk" } };
  const message = await roundTrip(
    compatible,
    chunk({ tool_calls: [{ ...TOOL_CALL, extra_content: signature }] }) + chunk({}, "tool_calls"),
  );
  const [first] = message.tool_calls as Json as JsonObject[];
  assertEquals(first?.extra_content, signature);
});

Deno.test("stream() of deepseek sends back the reasoning it streamed", async () => {
  await using server = ModelServer.start([
    answer(reasoning("I think"), raw(""), call("c1", "read", {})),
    answer(text("ok")),
  ]);
  const parts = (await ask(deepseek(server.url))).filter(({ type }) => type !== "finish");
  assertEquals(parts, [
    { type: "reasoning", text: "I think" },
    { type: "tool_call", callId: "c1", name: "read", arguments: "{}" },
  ]);
});
