import { assertEquals } from "@std/assert";
import type { Model } from "../../../session/model/model.ts";
import { ModelServer } from "../../helpers/model_server.ts";
import { answer, call, ending, page, raw, reasoning, text } from "../../helpers/model_turn.ts";
import { ask, askFailing, compatible, deepseek, joined } from "./_ask.ts";

const MODELS: readonly (readonly [string, (url: string) => Model])[] = [
  ["deepseek", deepseek],
  ["openai", compatible],
];

for (const [provider, make] of MODELS) {
  Deno.test(`stream() of ${provider} passes on reasoning, text and usage in order`, async () => {
    await using server = ModelServer.start([
      ending(answer(reasoning("Let me "), reasoning("think"), text("Hel"), text("lo 🎉")), {
        usage: { prompt: 100, completion: 20, cached: 60, reasoning: 7 },
      }),
    ]);
    assertEquals(joined(await ask(make(server.url))), [
      { type: "reasoning", text: "Let me think" },
      { type: "text", text: "Hello 🎉" },
      {
        type: "finish",
        reason: "stop",
        usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 7 },
      },
    ]);
  });

  Deno.test(`stream() of ${provider} puts calls that come in pieces together, as the model wrote them`, async () => {
    await using server = ModelServer.start([
      answer(
        text("I look."),
        call("call-a", "read", ['{"file_', 'path": ', '"a b.txt" }']),
        call("call-b", "bash", ["{not js", "on"]),
        call("call-c", "list", ""),
      ),
    ]);
    const parts = await ask(make(server.url));
    assertEquals(parts.filter(({ type }) => type === "tool_call"), [
      {
        type: "tool_call",
        callId: "call-a",
        name: "read",
        arguments: '{"file_path": "a b.txt" }',
      },
      { type: "tool_call", callId: "call-b", name: "bash", arguments: "{not json" },
      { type: "tool_call", callId: "call-c", name: "list", arguments: "" },
    ]);
    assertEquals(parts.at(-1)?.type === "finish" && parts.at(-1), {
      type: "finish",
      reason: "tool_calls",
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 },
    });
  });

  Deno.test(`stream() of ${provider} maps every end of an answer`, async () => {
    const ends = [
      ["stop", "stop"],
      ["length", "max_tokens"],
      ["content_filter", "content_filter"],
    ] as const;
    for (const [finish, reason] of ends) {
      await using server = ModelServer.start([ending(answer(text("x")), { finish })]);
      const last = (await ask(make(server.url))).at(-1);
      assertEquals(last?.type === "finish" && last.reason, reason);
    }
  });

  Deno.test(`stream() of ${provider} takes calls under any end that is not a cut for tool calls`, async () => {
    for (const finish of ["stop", "function_call_of_some_server"] as "stop"[]) {
      await using server = ModelServer.start([ending(answer(call("1", "read", {})), { finish })]);
      const parts = await ask(make(server.url));
      assertEquals(parts.map(({ type }) => type), ["tool_call", "finish"]);
      const last = parts.at(-1);
      assertEquals(last?.type === "finish" && last.reason, "tool_calls");
    }
  });

  Deno.test(`stream() of ${provider} leaves out the calls of an answer that was cut at the limit`, async () => {
    await using server = ModelServer.start([
      ending(answer(text("I write"), call("1", "write", '{"content": "half')), {
        finish: "length",
      }),
    ]);
    const parts = await ask(make(server.url));
    assertEquals(parts.map(({ type }) => type), ["text", "finish"]);
  });

  Deno.test(`stream() of ${provider} calls an empty answer malformed and retryable`, async () => {
    const silent = { usage: { prompt: 10, completion: 0 } };
    await using server = ModelServer.start([
      ending(answer(), silent),
      ending(answer(), { ...silent, finish: "unheard_of" as "stop" }),
    ]);
    for (let count = 0; count < 2; count++) {
      const failure = await askFailing(make(server.url));
      assertEquals([failure.code, failure.retryable], ["malformed_response", true]);
    }
  });

  Deno.test(`stream() of ${provider} reports a server that ends the answer for its own reasons`, async () => {
    await using server = ModelServer.start([
      ending(answer(text("x")), { finish: "insufficient_system_resource" as "stop" }),
    ]);
    const failure = await askFailing(make(server.url));
    assertEquals([failure.code, failure.retryable], ["server", true]);
  });

  Deno.test(`stream() of ${provider} works with a server that reports no usage`, async () => {
    const chunk = (delta: unknown, finish: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    await using server = ModelServer.start([
      page(chunk({ content: "hi" }, null) + chunk({}, "stop"), "text/event-stream"),
    ]);
    assertEquals(await ask(make(server.url)), [
      { type: "text", text: "hi" },
      { type: "finish", reason: "stop" },
    ]);
  });

  Deno.test(`stream() of ${provider} gives a call id that was used before a new one`, async () => {
    await using server = ModelServer.start([answer(call("call_0", "read", {}))]);
    const parts = await ask(make(server.url), {
      messages: [
        { role: "user", text: "a" },
        {
          role: "assistant",
          parts: [{ type: "tool_call", callId: "call_0", name: "read", arguments: "{}" }],
        },
        {
          role: "tool",
          results: [{ callId: "call_0", name: "read", content: [], isError: false }],
        },
      ],
    });
    assertEquals(parts[0]?.type === "tool_call" && parts[0].callId, "call_0-2");
  });
}

Deno.test("stream() can be left early, which ends the request", async () => {
  const never = new Promise<never>(() => {});
  await using server = ModelServer.start([
    answer(text("one"), { type: "wait", until: never }),
  ]);
  for await (const part of deepseek(server.url).stream({ ...REQUEST })) {
    assertEquals(part, { type: "text", text: "one" });
    break;
  }
  assertEquals(await (await server.request(0)).ended, "aborted");
});

Deno.test("stream() ignores the comments that keep a connection alive", async () => {
  await using server = ModelServer.start([
    answer(raw(": keep-alive\n\n"), text("a"), raw(": keep-alive\n\n"), text("b")),
  ]);
  assertEquals(joined(await ask(deepseek(server.url)))[0], { type: "text", text: "ab" });
});

const REQUEST = {
  system: "",
  messages: [{ role: "user", text: "Hello" }],
  tools: [],
  signal: new AbortController().signal,
} as const;
