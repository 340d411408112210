import { assertEquals, assertRejects } from "@std/assert";
import { boundedFetch } from "../../../tools/mcp/bounded_fetch.ts";

const MIB = 1024 * 1024;

/** Serves `pieces` at any path; ends when it is disposed. */
function serve(type: string, pieces: Iterable<string>): { url: string } & AsyncDisposable {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    const body = ReadableStream.from(pieces).pipeThrough(new TextEncoderStream());
    return new Response(body, { headers: { "content-type": type } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function* pieces(count: number, piece: string): Iterable<string> {
  for (let index = 0; index < count; index++) yield piece;
}

Deno.test("boundedFetch() fails an answer, and an event, that grows beyond 32 MiB", async () => {
  for (const type of ["application/json", "text/event-stream"]) {
    await using server = serve(type, pieces(64, "x".repeat(MIB)));
    const response = await boundedFetch(server.url);
    await assertRejects(() => response.text(), Error, "more than 33554432 bytes");
  }
});

Deno.test("boundedFetch() lets a long stream of short events pass", async () => {
  await using server = serve("text/event-stream", pieces(40, `data: ${"x".repeat(MIB)}\r\n\r\n`));
  const response = await boundedFetch(server.url);
  assertEquals((await response.text()).length, 40 * (MIB + 10));
  assertEquals(response.url, server.url);
});
