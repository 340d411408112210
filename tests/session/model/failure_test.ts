import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ModelServer } from "../../helpers/model_server.ts";
import {
  answer,
  drop,
  failure,
  type ModelTurn,
  page,
  raw,
  text,
} from "../../helpers/model_turn.ts";
import { ask, askFailing, compatible, deepseek, KEY } from "./_ask.ts";

/** An error answer with any body and headers. */
function reply(status: number, body: unknown, headers: Record<string, string> = {}): ModelTurn {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    type: "reply",
    status,
    headers: { "content-type": "application/json", ...headers },
    body: text,
  };
}

function error(message: string, more: Record<string, unknown> = {}): unknown {
  return { error: { message, ...more } };
}

const CASES: readonly {
  readonly name: string;
  readonly turn: ModelTurn;
  readonly code: string;
  readonly retryable: boolean;
  readonly words: string;
}[] = [
  { name: "401", turn: failure(401), code: "auth", retryable: false, words: "DEEPSEEK_API_KEY" },
  { name: "403", turn: failure(403), code: "auth", retryable: false, words: "DEEPSEEK_API_KEY" },
  {
    name: "402",
    turn: failure(402, { message: "Insufficient Balance" }),
    code: "quota",
    retryable: false,
    words: "Insufficient Balance",
  },
  {
    name: "429 without quota",
    turn: reply(429, error("You exceeded your quota", { code: "insufficient_quota" })),
    code: "quota",
    retryable: false,
    words: "exceeded your quota",
  },
  { name: "429", turn: failure(429), code: "rate_limit", retryable: true, words: "429" },
  {
    name: "400 of a full context",
    turn: reply(400, error("This model's maximum context length is 131072 tokens. However, ...")),
    code: "context_window",
    retryable: false,
    words: "131072",
  },
  {
    name: "400 with the code of a full context",
    turn: reply(400, error("No", { code: "context_length_exceeded" })),
    code: "context_window",
    retryable: false,
    words: "too long",
  },
  {
    name: "400",
    turn: failure(400, { message: "Unknown tool" }),
    code: "invalid_request",
    retryable: false,
    words: "Unknown tool",
  },
  {
    name: "404",
    turn: failure(404, { message: "No such model" }),
    code: "invalid_request",
    retryable: false,
    words: "DEEPSEEK_BASE_URL",
  },
  { name: "408", turn: failure(408), code: "timeout", retryable: true, words: "408" },
  { name: "500", turn: failure(500), code: "server", retryable: true, words: "500" },
  { name: "503", turn: failure(503), code: "server", retryable: true, words: "503" },
  { name: "529", turn: failure(529), code: "server", retryable: true, words: "529" },
  {
    name: "a plain text body",
    turn: reply(500, "upstream is down", { "content-type": "text/plain" }),
    code: "server",
    retryable: true,
    words: "upstream is down",
  },
  {
    name: "an error inside the stream",
    turn: answer(raw(`data: ${JSON.stringify(error("Overloaded", { type: "server_error" }))}\n\n`)),
    code: "server",
    retryable: true,
    words: "Overloaded",
  },
  {
    name: "a rate limit inside the stream",
    turn: answer(raw(`data: ${JSON.stringify(error("Slow", { code: 429 }))}\n\n`)),
    code: "rate_limit",
    retryable: true,
    words: "Slow",
  },
  {
    name: "an error inside the stream that is a text",
    turn: answer(raw(`data: {"error":"model not loaded"}\n\n`)),
    code: "server",
    retryable: true,
    words: "model not loaded",
  },
  {
    name: "garbage in the stream",
    turn: answer(text("a"), raw("data: {{{ not json\n\n")),
    code: "malformed_response",
    retryable: true,
    words: "not part of the protocol",
  },
  {
    name: "JSON of another kind in the stream",
    turn: answer(raw('data: {"choices": 12}\n\n')),
    code: "malformed_response",
    retryable: true,
    words: "not part of the protocol",
  },
  {
    name: "a page of HTML with 200",
    turn: page("<html><body>Sign in</body></html>"),
    code: "malformed_response",
    retryable: false,
    words: "text/html",
  },
  {
    name: "JSON with 200",
    turn: page('{"choices":[]}', "application/json"),
    code: "malformed_response",
    retryable: false,
    words: "application/json",
  },
  {
    name: "an empty body",
    turn: page("", "text/event-stream"),
    code: "transport",
    retryable: true,
    words: "broke off",
  },
  {
    name: "half a stream",
    turn: page(
      'data: {"choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}\n\n',
      "text/event-stream",
    ),
    code: "transport",
    retryable: true,
    words: "broke off",
  },
  {
    name: "a connection that drops",
    turn: answer(text("Hel"), drop()),
    code: "transport",
    retryable: true,
    words: "broke off",
  },
];

for (const { name, turn, code, retryable, words } of CASES) {
  Deno.test(`stream() turns ${name} into the failure ${code}`, async () => {
    for (const make of [deepseek, compatible]) {
      await using server = ModelServer.start([turn]);
      const got = await askFailing(make(server.url));
      assertEquals([got.code, got.retryable], [code, retryable], got.message);
      const expected = make === compatible ? words.replace("DEEPSEEK", "OPENAI") : words;
      assertStringIncludes(got.message, expected);
      assertEquals(got.message.split("\n").length, 1);
      assert(!/\bat .*:\d+:\d+/.test(got.message), got.message);
      assert(!got.message.endsWith("."), got.message);
    }
  });
}

Deno.test("stream() never passes on a call of half a stream", async () => {
  const chunk = {
    choices: [{
      index: 0,
      delta: {
        tool_calls: [{
          index: 0,
          id: "1",
          type: "function",
          function: { name: "write", arguments: '{"file_path":"a"}' },
        }],
      },
      finish_reason: null,
    }],
  };
  for (const make of [deepseek, compatible]) {
    await using server = ModelServer.start([
      page(`data: ${JSON.stringify(chunk)}\n\n`, "text/event-stream"),
    ]);
    const parts = await ask(make(server.url));
    assertEquals(parts.map(({ type }) => type), ["failure"]);
  }
});

const WAITS: readonly (readonly [string, Record<string, string>, number | undefined])[] = [
  ["seconds", { "retry-after": "7" }, 7000],
  ["a fraction of a second", { "retry-after": "0.5" }, 500],
  ["milliseconds", { "retry-after-ms": "1250", "retry-after": "9" }, 1250],
  [
    "a date, from the date of the response",
    { "retry-after": "Tue, 01 Dec 2026 10:00:30 GMT", date: "Tue, 01 Dec 2026 10:00:00 GMT" },
    30_000,
  ],
  [
    "a date in the past",
    { "retry-after": "Tue, 01 Dec 2026 09:00:00 GMT", date: "Tue, 01 Dec 2026 10:00:00 GMT" },
    0,
  ],
  ["nonsense", { "retry-after": "soon" }, undefined],
  ["nothing", {}, undefined],
];

for (const [name, headers, expected] of WAITS) {
  Deno.test(`stream() reads Retry-After given as ${name}`, async () => {
    await using server = ModelServer.start([reply(429, error("Slow down"), headers)]);
    assertEquals((await askFailing(deepseek(server.url))).retryAfterMs, expected);
  });
}

Deno.test("stream() reads a Retry-After of a server failure too", async () => {
  await using server = ModelServer.start([failure(503, { retryAfter: 3 })]);
  assertEquals((await askFailing(deepseek(server.url))).retryAfterMs, 3000);
});

Deno.test("stream() says that nobody listens at the address", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const got = await askFailing(deepseek(`http://127.0.0.1:${port}/secret-path`));
  assertEquals([got.code, got.retryable], ["transport", true]);
  assertEquals(
    got.message,
    `Cannot reach DeepSeek (deepseek/deepseek-v4-flash) at http://127.0.0.1:${port}: ` +
      "the connection was refused",
  );
});

Deno.test("stream() says that a host does not exist", async () => {
  const got = await askFailing(deepseek("http://no-such-host.invalid/v1"));
  assertEquals([got.code, got.retryable], ["transport", true]);
  assertStringIncludes(got.message, "http://no-such-host.invalid");
});

Deno.test("stream() says which permission is missing", async () => {
  const got = await askFailing(deepseek("http://127.0.0.1:9/v1", {
    fetch: () => Promise.reject(new Deno.errors.NotCapable("Requires net access")),
  }));
  assertEquals([got.code, got.retryable], ["transport", false]);
  assertStringIncludes(got.message, "--allow-net=127.0.0.1:9");
});

const LEAKS: readonly (readonly [string, ModelTurn])[] = [
  ["the whole key", failure(401, { message: `Invalid key ${KEY} given` })],
  ["the start of the key", failure(401, { message: `Invalid key ${KEY.slice(0, 12)}... given` })],
  ["the masked key", failure(401, { message: "Your api key: ****cdef is invalid" })],
  ["another key", failure(400, { message: "Use sk-proj-AAAABBBBCCCC instead" })],
  ["a header", failure(500, { message: `Authorization: Bearer ${KEY}` })],
  ["a URL with a password", failure(500, { message: "GET https://user:hunter22@host/x failed" })],
  ["a plain body", reply(500, `key=${KEY}`, { "content-type": "text/plain" })],
  ["a stream error", answer(raw(`data: ${JSON.stringify(error(`bad ${KEY}`))}\n\n`))],
  ["an end", answer(raw(`data: not json ${KEY}\n\n`))],
];

for (const [name, turn] of LEAKS) {
  Deno.test(`stream() hides the key that a provider repeats: ${name}`, async () => {
    await using server = ModelServer.start([turn]);
    const { message } = await askFailing(deepseek(server.url));
    for (const secret of [KEY, KEY.slice(0, 12), "cdef", "AAAABBBB", "hunter22"]) {
      assert(!message.includes(secret), message);
    }
  });
}

Deno.test("stream() hides a key that does not look like one", async () => {
  await using server = ModelServer.start([failure(401, { message: "No user plainpassword here" })]);
  const { Secret } = await import("../../../session/model/secret.ts");
  const model = compatible(server.url, { key: new Secret("plainpassword") });
  const { message } = await askFailing(model);
  assert(!message.includes("plainpassword"), message);
});

Deno.test("stream() bounds the provider's own message and keeps it on one line", async () => {
  const long = `line\n${"x".repeat(10_000)}\u0000\u001b[31m`;
  await using server = ModelServer.start([failure(400, { message: long })]);
  const { message } = await askFailing(deepseek(server.url));
  assert(message.length < 450, String(message.length));
  // deno-lint-ignore no-control-regex
  assert(!/[\u0000-\u001f]/.test(message));
});

Deno.test("stream() asks for a key where none was sent", async () => {
  await using server = ModelServer.start([failure(401, { message: "Missing key" })]);
  const { providerModel } = await import("../../../session/model/providers.ts");
  const model = providerModel({ provider: "openai", model: "x", baseUrl: server.url });
  const got = await askFailing(model);
  assertEquals(got.code, "auth");
  assertStringIncludes(got.message, "asks for a key");
  assertStringIncludes(got.message, "set OPENAI_API_KEY");
  assertEquals(server.requests[0]?.headers.get("authorization"), null);
});
