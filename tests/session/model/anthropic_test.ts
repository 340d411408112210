import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Json, JsonObject } from "../../../tools/json.ts";
import type { ModelMessage } from "../../../session/model/model.ts";
import { anthropic, ask, askFailing, joined, KEY } from "./_ask.ts";

interface Server extends AsyncDisposable {
  readonly url: string;
  readonly requests: { readonly body: JsonObject; readonly headers: Headers }[];
}

/** A server of the messages API that answers with these responses in order. */
function serve(...responses: readonly Response[]): Server {
  const requests: { body: JsonObject; headers: Headers }[] = [];
  const left = [...responses];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      assert(new URL(request.url).pathname === "/v1/messages", request.url);
      requests.push({ body: await request.json(), headers: request.headers });
      return left.shift() ?? new Response(null, { status: 400 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function events(...data: readonly JsonObject[]): Response {
  const body = data.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return new Response(body.join(""), { headers: { "content-type": "text/event-stream" } });
}

const START: JsonObject = {
  type: "message_start",
  message: {
    id: "m1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-5-5",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 30 },
  },
};

function block(index: number, content: JsonObject, ...deltas: readonly JsonObject[]): JsonObject[] {
  return [
    { type: "content_block_start", index, content_block: content },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function end(reason: string): JsonObject[] {
  return [
    {
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: "message_stop" },
  ];
}

const THINKING = block(
  0,
  { type: "thinking", thinking: "", signature: "" },
  { type: "thinking_delta", thinking: "I think" },
  { type: "signature_delta", signature: "sig-1" },
);
const TEXT = block(1, { type: "text", text: "" }, { type: "text_delta", text: "Hello" });
const CALL = block(
  2,
  { type: "tool_use", id: "toolu_1", name: "read", input: {} },
  { type: "input_json_delta", partial_json: '{"path":' },
  { type: "input_json_delta", partial_json: ' "a"}' },
);

Deno.test("stream() of anthropic passes on thinking, its signature, text, calls and usage", async () => {
  await using server = serve(events(START, ...THINKING, ...TEXT, ...CALL, ...end("tool_use")));
  assertEquals(joined(await ask(anthropic(server.url))), [
    { type: "reasoning", text: "I think" },
    { type: "reasoning_metadata", metadata: { anthropic: { signature: "sig-1" } } },
    { type: "text", text: "Hello" },
    { type: "tool_call", callId: "toolu_1", name: "read", arguments: '{"path": "a"}' },
    {
      type: "finish",
      reason: "tool_calls",
      usage: { inputTokens: 40, outputTokens: 9, cachedInputTokens: 30 },
    },
  ]);
  assertEquals(server.requests[0]?.headers.get("x-api-key"), KEY);
});

Deno.test("stream() of anthropic passes on thinking that is redacted", async () => {
  const redacted = block(0, { type: "redacted_thinking", data: "abc" });
  await using server = serve(events(START, ...redacted, ...TEXT, ...end("end_turn")));
  assertEquals((await ask(anthropic(server.url)))[0], {
    type: "reasoning_metadata",
    metadata: { anthropic: { redactedData: "abc" } },
  });
});

const MESSAGES: readonly ModelMessage[] = [
  { role: "user", text: "Hello" },
  {
    role: "assistant",
    parts: [
      {
        type: "reasoning",
        text: "I think",
        metadata: { anthropic: { signature: "sig-1" } },
      },
      { type: "reasoning", text: "", metadata: { anthropic: { redactedData: "abc" } } },
      { type: "text", text: "I look." },
      { type: "tool_call", callId: "functions.read:0", name: "read", arguments: '{"path":"a"}' },
    ],
  },
  {
    role: "tool",
    results: [{
      callId: "functions.read:0",
      name: "read",
      content: [
        { type: "text", text: "A picture" },
        { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      ],
      isError: false,
    }],
  },
];

Deno.test("stream() of anthropic sends back signed thinking, calls, and images in results", async () => {
  await using server = serve(events(START, ...TEXT, ...end("end_turn")));
  await ask(anthropic(server.url), { messages: MESSAGES });
  const { messages, system } = server.requests[0]!.body;
  const ephemeral = { type: "ephemeral" };
  assertEquals(system, [{ type: "text", text: "You help.", cache_control: ephemeral }]);
  assertEquals(messages as Json, [
    { role: "user", content: [{ type: "text", text: "Hello" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I think", signature: "sig-1" },
        { type: "redacted_thinking", data: "abc" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "functions_read_0", name: "read", input: { path: "a" } },
      ],
    },
    {
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: "functions_read_0",
        content: [
          { type: "text", text: "A picture" },
          {
            type: "image",
            source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
          },
        ],
        cache_control: ephemeral,
      }],
    },
  ]);
});

Deno.test("stream() of anthropic marks a result that is an error", async () => {
  await using server = serve(events(START, ...TEXT, ...end("end_turn")));
  const [user, assistant] = MESSAGES;
  await ask(anthropic(server.url), {
    messages: [user!, assistant!, {
      role: "tool",
      results: [{
        callId: "functions.read:0",
        name: "read",
        content: [{ type: "text", text: "Error: gone" }],
        isError: true,
      }],
    }],
  });
  const messages = server.requests[0]!.body.messages as Json as JsonObject[];
  const [result] = messages[2]?.content as Json as JsonObject[];
  assertEquals([result?.is_error, result?.content], [true, "Error: gone"]);
});

Deno.test("stream() of anthropic asks for adaptive thinking with the effort where the model has it", async () => {
  await using server = serve(
    events(START, ...TEXT, ...end("end_turn")),
    events(START, ...TEXT, ...end("end_turn")),
  );
  await ask(anthropic(server.url), { reasoningEffort: "low" });
  await ask(anthropic(server.url, { model: "claude-haiku-4-5" }));
  const [known, named] = server.requests.map(({ body }) => body);
  assertEquals(known?.thinking, { type: "adaptive", display: "summarized" });
  assertEquals(known?.output_config, { effort: "low" });
  assertEquals(named && "thinking" in named, false);
});

Deno.test("stream() of anthropic maps every end of an answer", async () => {
  const ends = [
    ["end_turn", "stop"],
    ["max_tokens", "max_tokens"],
    ["refusal", "content_filter"],
    ["stop_sequence", "stop"],
  ] as const;
  for (const [stop, reason] of ends) {
    await using server = serve(events(START, ...TEXT, ...end(stop)));
    const last = (await ask(anthropic(server.url))).at(-1);
    assertEquals(last?.type === "finish" && last.reason, reason);
  }
});

function refusal(status: number, type: string, message: string, headers = {}): Response {
  return Response.json({ type: "error", error: { type, message } }, { status, headers });
}

Deno.test("stream() of anthropic classifies failures", async () => {
  const cases: readonly (readonly [Response, string, boolean, string])[] = [
    [refusal(401, "authentication_error", "invalid x-api-key"), "auth", false, "ANTHROPIC_API_KEY"],
    [refusal(429, "rate_limit_error", "slow", { "retry-after": "2" }), "rate_limit", true, "slow"],
    [refusal(529, "overloaded_error", "Overloaded"), "server", true, "Overloaded"],
    [
      refusal(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
      "context_window",
      false,
      "210000",
    ],
    [
      refusal(400, "invalid_request_error", "Your credit balance is too low to access the API"),
      "quota",
      false,
      "credit",
    ],
    [
      events(START, ...TEXT, {
        type: "error",
        error: { type: "overloaded_error", message: "Overloaded" },
      }),
      "server",
      true,
      "Overloaded",
    ],
    [
      events({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      "server",
      true,
      "Overloaded",
    ],
    [events(START, ...TEXT), "transport", true, "broke off"],
    [events(START, ...CALL), "transport", true, "broke off"],
    [events(START), "transport", true, "broke off"],
    [
      new Response("<html></html>", { headers: { "content-type": "text/html" } }),
      "malformed_response",
      false,
      "text/html",
    ],
  ];
  for (const [response, code, retryable, words] of cases) {
    await using server = serve(response);
    const failure = await askFailing(anthropic(server.url));
    assertEquals([failure.code, failure.retryable], [code, retryable], failure.message);
    assertStringIncludes(failure.message, words);
  }
});
