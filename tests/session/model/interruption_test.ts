import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { AiSdkModel } from "../../../session/model/ai_sdk_model.ts";
import type { ModelStreamPart } from "../../../session/model/model.ts";
import { ModelServer } from "../../helpers/model_server.ts";
import { answer, hang, text, wait } from "../../helpers/model_turn.ts";
import { anthropic, ask, askFailing, compatible, deepseek, requestOf } from "./_ask.ts";

const never = new Promise<never>(() => {});

for (const make of [deepseek, compatible]) {
  Deno.test(`stream() of ${make.name} ends when it is aborted before the first byte`, async () => {
    await using server = ModelServer.start([hang()]);
    const abort = new AbortController();
    const asking = askFailing(make(server.url), { signal: abort.signal });
    const request = await server.request(0);
    abort.abort();
    const failure = await asking;
    assertEquals(failure.retryable, false);
    assertStringIncludes(failure.message, "cancelled");
    assertEquals(await request.ended, "aborted");
  });

  Deno.test(`stream() of ${make.name} ends when it is aborted in mid-answer`, async () => {
    await using server = ModelServer.start([answer(text("one"), wait(never))]);
    const abort = new AbortController();
    const parts: ModelStreamPart[] = [];
    for await (const part of make(server.url).stream(requestOf({ signal: abort.signal }))) {
      parts.push(part);
      abort.abort();
    }
    assertEquals(parts.map(({ type }) => type), ["text", "failure"]);
    assertEquals(await (await server.request(0)).ended, "aborted");
  });

  Deno.test(`stream() of ${make.name} gives up on a provider that sends nothing`, async () => {
    await using server = ModelServer.start([hang(), answer(text("one"), wait(never))]);
    for (let index = 0; index < 2; index++) {
      const failure = await askFailing(make(server.url, { idleTimeoutMs: 60 }));
      assertEquals([failure.code, failure.retryable], ["timeout", true]);
      assertStringIncludes(failure.message, "sent nothing for 0.06 s");
      assertEquals(await (await server.request(index)).ended, "aborted");
    }
  });
}

Deno.test("stream() sends nothing when the signal is aborted already", async () => {
  await using server = ModelServer.start([answer(text("x"))]);
  await askFailing(deepseek(server.url), { signal: AbortSignal.abort() });
  assertEquals(server.requests.length, 0);
});

Deno.test("stream() starts the idle timeout anew with each part", async () => {
  const started: number[] = [];
  let running = 0;
  await using server = ModelServer.start([answer(text("a"), text("b"))]);
  const model = deepseek(server.url, {
    idleTimeoutMs: 1234,
    startTimer: (_callback, delayMs) => {
      started.push(delayMs);
      running++;
      return () => running--;
    },
  });
  await ask(model);
  assert(started.length > 2);
  assertEquals(new Set(started), new Set([1234]));
  assertEquals(running, 0);
});

/** A provider's model that behaves as the test says, deaf to its signal. */
function deaf(doStream: LanguageModelV4["doStream"]): AiSdkModel {
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "deaf",
    modelId: "deaf",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("not used")),
    doStream,
  };
  return new AiSdkModel({
    info: { provider: "openai", model: "deaf", name: "Deaf" },
    endpoint: {
      label: "Deaf",
      model: "openai/deaf",
      baseUrl: "http://127.0.0.1",
      keyVariable: "K",
      baseUrlVariable: "B",
    },
    dialect: { id: "openai", toolImages: "omit", userImages: false },
    load: () => Promise.resolve(model),
    idleTimeoutMs: 60_000,
  });
}

Deno.test("stream() ends on abort although the provider's call never settles", async () => {
  const abort = new AbortController();
  const asking = askFailing(deaf(() => never), { signal: abort.signal });
  abort.abort();
  assertStringIncludes((await asking).message, "cancelled");
});

Deno.test("stream() ends on abort although the provider's stream hangs, cancel included", async () => {
  const abort = new AbortController();
  const reading = Promise.withResolvers<void>();
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    pull: () => {
      reading.resolve();
      return never;
    },
    cancel: () => never,
  });
  const asking = askFailing(deaf(() => Promise.resolve({ stream })), { signal: abort.signal });
  await reading.promise;
  abort.abort();
  assertStringIncludes((await asking).message, "cancelled");
});

Deno.test("stream() cancels a stream that comes after the abort", async () => {
  const abort = new AbortController();
  const late = Promise.withResolvers<{ stream: ReadableStream<LanguageModelV4StreamPart> }>();
  const cancelled = Promise.withResolvers<void>();
  const asking = askFailing(deaf(() => late.promise), { signal: abort.signal });
  abort.abort();
  await asking;
  late.resolve({ stream: new ReadableStream({ cancel: () => cancelled.resolve() }) });
  await cancelled.promise;
});

Deno.test("stream() turns anything that is thrown into one failure", async () => {
  for (const thrown of [new Error("boom"), "boom", undefined, null, { odd: true }]) {
    const failure = await askFailing(deaf(() => Promise.reject(thrown)));
    assertEquals(failure.retryable, !(thrown instanceof Error), failure.message);
  }
  const failure = await askFailing(deaf(() => {
    throw new RangeError("synchronous");
  }));
  assertEquals(failure.code, "internal");
});

Deno.test("stream() loads a provider's package again after it failed to load", async () => {
  let loads = 0;
  const model = new AiSdkModel({
    info: { provider: "openai", model: "x", name: "x" },
    endpoint: {
      label: "X",
      model: "openai/x",
      baseUrl: "http://127.0.0.1",
      keyVariable: "K",
      baseUrlVariable: "B",
    },
    dialect: { id: "openai", toolImages: "omit", userImages: false },
    load: () => {
      loads++;
      return Promise.reject(new TypeError("Module not found"));
    },
  });
  await askFailing(model);
  await askFailing(model);
  assertEquals(loads, 2);
});

Deno.test("stream() of anthropic ends when it is aborted", async () => {
  const left = Promise.withResolvers<void>();
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    const body = new ReadableStream({ cancel: () => left.resolve() });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const abort = new AbortController();
  const asking = askFailing(
    anthropic(`http://127.0.0.1:${server.addr.port}/v1`, {
      fetch: async (...input) => {
        const response = await fetch(...input);
        queueMicrotask(() => abort.abort());
        return response;
      },
    }),
    { signal: abort.signal },
  );
  assertStringIncludes((await asking).message, "cancelled");
  await left.promise;
});
