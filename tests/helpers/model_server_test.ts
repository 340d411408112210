import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ModelServer } from "./model_server.ts";
import {
  answer,
  call,
  drop,
  ending,
  failure,
  hang,
  page,
  raw,
  reasoning,
  text,
  wait,
} from "./model_turn.ts";

function ask(model: ModelServer, init: RequestInit = {}): Promise<Response> {
  return fetch(`${model.url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [] }),
    ...init,
  });
}

/** The `data:` payloads of a whole answer. */
async function events(response: Response): Promise<string[]> {
  const body = await response.text();
  return body.split("\n\n").filter((part) => part).map((part) => part.slice("data: ".length));
}

Deno.test("ModelServer streams text, reasoning and calls, then usage and [DONE]", async () => {
  await using model = ModelServer.start([
    ending(
      answer(reasoning("hm"), text("hi"), call("c1", "read", ['{"a"', ":1}"]), call("c2", "x", {})),
      { usage: { prompt: 7, completion: 3, cached: 2 } },
    ),
  ]);
  const lines = await events(await ask(model));
  assertEquals(lines.at(-1), "[DONE]");
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line));
  const deltas = chunks.flatMap((chunk) => chunk.choices).map((choice) => choice.delta);
  assertEquals(deltas.slice(1, 3), [{ reasoning_content: "hm" }, { content: "hi" }]);
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
  assertEquals(calls.map((part) => [part.index, part.function.arguments]), [
    [0, '{"a"'],
    [0, ":1}"],
    [1, "{}"],
  ]);
  assertEquals(chunks.at(-2).choices[0].finish_reason, "tool_calls");
  assertEquals(chunks.at(-1).usage.prompt_cache_hit_tokens, 2);
  assertEquals(model.requests[0]?.body, { model: "m", messages: [] });
  assertEquals(await model.requests[0]?.ended, "complete");
});

Deno.test("ModelServer answers failures, pages and raw events as told, and 400 beyond the script", async () => {
  await using model = ModelServer.start([
    failure(429, { retryAfter: 3 }),
    page("<html>"),
    answer(raw("data: {nope\n\n")),
  ]);
  const limited = await ask(model);
  assertEquals([limited.status, limited.headers.get("retry-after")], [429, "3"]);
  await limited.body?.cancel();
  assertEquals(await (await ask(model)).text(), "<html>");
  assertStringIncludes(await (await ask(model)).text(), "data: {nope\n\n");
  const beyond = await ask(model);
  assertEquals(beyond.status, 400);
  assertStringIncludes(await beyond.text(), "scripted no answer");
  assertEquals(model.left, 0);
});

Deno.test("ModelServer drops the connection in the middle of an answer", async () => {
  await using model = ModelServer.start([answer(text("half"), drop())]);
  const response = await ask(model);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  await assertRejects(async () => {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      seen += value;
    }
  });
  assertStringIncludes(seen, "half");
});

Deno.test("ModelServer sees the client leave, before and in the middle of an answer", async () => {
  const gate = Promise.withResolvers<void>();
  await using model = ModelServer.start([hang(), answer(text("a"), wait(gate.promise))]);
  const first = new AbortController();
  const silent = ask(model, { signal: first.signal });
  const hanging = await model.request(0);
  first.abort();
  await assertRejects(() => silent, DOMException);
  assertEquals(await hanging.ended, "aborted");

  const second = new AbortController();
  const response = await ask(model, { signal: second.signal });
  second.abort();
  await assertRejects(() => response.text(), DOMException);
  assertEquals(await model.requests[1]?.ended, "aborted");
  assert(model.requests[1]?.aborted);
});

Deno.test("ModelServer holds an answer until its gate opens", async () => {
  const gate = Promise.withResolvers<void>();
  await using model = ModelServer.start([answer(text("a"), wait(gate.promise), text("b"))]);
  const response = await ask(model);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes('"a"')) seen += (await reader.read()).value;
  assert(!seen.includes('"b"'));
  gate.resolve();
  while (!seen.includes("[DONE]")) seen += (await reader.read()).value;
  assertStringIncludes(seen, '"b"');
  await reader.cancel();
});

Deno.test("ModelServer disposes while a request hangs", async () => {
  const model = ModelServer.start([hang()]);
  const silent = ask(model).then((response) => response.status);
  await model.request(0);
  await model[Symbol.asyncDispose]();
  assertEquals(await silent, 503);
});
