import { assert, assertEquals, assertLess } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { chunkText, mergeChunks } from "../helpers/frames.ts";
import {
  everything,
  everythingArgs,
  filesystem,
  referenceServers,
} from "../helpers/mcp_reference.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { cardOf, PermissionDesk, toolResults } from "../helpers/permission_desk.ts";
import { processesLeft, processesWith } from "../helpers/processes.ts";
import { startAgent } from "../helpers/start_agent.ts";

const ignore = Deno.build.os !== "linux" || !await referenceServers();

function newMark(): string {
  return `mark${crypto.randomUUID()}`;
}

function results(model: ModelServer): Record<string, string> {
  return toolResults(model.requests.at(-1)?.body ?? {});
}

Deno.test({
  name: "tools of a stdio server are listed and called, images shown, and replay equals live",
  ignore,
  fn: async () => {
    const mark = newMark();
    await using model = ModelServer.start([
      answer(
        call("e", "mcp__every__echo", { message: "hi" }),
        call("i", "mcp__every__get-tiny-image", {}),
        call("r", "mcp__every__get-resource-reference", {}),
      ),
      answer(text("Done.")),
    ]);
    await using agent = await startAgent({ model });
    const sessionId = await agent.newSession({ mcpServers: [everything("every", mark)] });
    const desk = new PermissionDesk(agent.client, "reject");
    await agent.client.prompt(sessionId, "go");
    const { e, i, r } = results(model);
    assertEquals(e, "Echo: hi");
    assert(i?.includes("image/png"), i);
    assert(r?.includes("demo://"), r);
    assert(JSON.stringify(cardOf(agent.client, "i")).includes('"type":"image"'));
    assertEquals(desk.calls, []);
    const live = mergeChunks(agent.client.updatesOf(sessionId));
    await agent.client.close();
    assertEquals(await processesLeft(mark), []);

    const second = await agent.spawn();
    await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
    const replayed = second.updatesOf(sessionId)
      .filter((update) => update["sessionUpdate"] !== "user_message_chunk");
    assertEquals(mergeChunks(replayed), live);
  },
});

Deno.test({
  name: "a tool that may change something is asked about; always holds for that tool",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([], {
      respond: (request) => {
        const path = `${folder}/${request.index}`;
        return [
          answer(call("a", "mcp__files__write_file", { path, content: "a" })),
          answer(call("b", "mcp__files__write_file", { path, content: "b" })),
          answer(call("c", "mcp__files__create_directory", { path })),
          answer(call("d", "mcp__files__list_directory", { path: folder })),
          answer(text("Done.")),
        ][request.index];
      },
    });
    await using agent = await startAgent({ model });
    const folder = agent.workspace;
    const sessionId = await agent.newSession({ mcpServers: [filesystem("files", folder)] });
    const desk = new PermissionDesk(
      agent.client,
      ({ options }) => Object.keys(options).find((id) => /always/.test(id)) ?? "none",
    );
    await agent.client.prompt(sessionId, "go");
    assertEquals(desk.calls, ["a", "c"]);
  },
});

Deno.test({
  name: "a cancel in mid-call answers within two seconds, and the server goes on",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([
      answer(call("l", "mcp__every__trigger-long-running-operation", { duration: 60 })),
      answer(call("e", "mcp__every__echo", { message: "again" })),
      answer(text("Done.")),
    ]);
    await using agent = await startAgent({ model });
    const { client } = agent;
    const sessionId = await agent.newSession({ mcpServers: [everything("every", newMark())] });
    const pending = client.prompt(sessionId, "go");
    await client.nextUpdate((update) => update["status"] === "in_progress");
    const cancelled = performance.now();
    await client.notify("session/cancel", { sessionId });
    const answered = await pending;
    assert(answered.type === "result", JSON.stringify(answered));
    assertEquals((answered.result as JsonObject)["stopReason"], "cancelled");
    assertLess(answered.at - cancelled, 2_000);
    await client.prompt(sessionId, "again");
    assertEquals(results(model)["e"], "Echo: again");
  },
});

Deno.test({
  name: "a server killed in mid-call fails that call and is reported once",
  ignore,
  fn: async () => {
    const mark = newMark();
    await using model = ModelServer.start([
      answer(call("l", "mcp__every__trigger-long-running-operation", { duration: 60 })),
      answer(text("It died.")),
      answer(text("Still here.")),
    ]);
    await using agent = await startAgent({ model });
    const { client } = agent;
    const sessionId = await agent.newSession({ mcpServers: [everything("every", mark)] });
    const pending = client.prompt(sessionId, "go");
    await client.nextUpdate((update) => update["status"] === "in_progress");
    const servers = (await processesWith(mark)).filter((pid) => pid !== client.pid);
    for (const pid of servers) Deno.kill(pid, "SIGKILL");
    assertEquals((await pending).type, "result");
    assert(results(model)["l"]?.startsWith("Error: "), results(model)["l"]);
    await client.prompt(sessionId, "and now?");
    const said = chunkText(client.updatesOf(sessionId));
    assertEquals(said.split('MCP server "every": ended').length, 2, said);
  },
});

Deno.test("a server that never answers holds up neither the session nor the cancel", async () => {
  const mark = `77${Math.floor(Math.random() * 1e9)}`;
  await using model = ModelServer.start([answer(text("Hello."))]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const began = performance.now();
  const sessionId = await agent.newSession({
    mcpServers: [
      { name: "mute", command: "sleep", args: [mark], env: [] },
      { name: "gone", command: "no-such-program", args: [], env: [] },
    ],
  });
  assertLess(performance.now() - began, 5_000);
  assertEquals((await client.prompt(sessionId, "go")).type, "result");
  assertLess(performance.now() - began, 20_000);
  const said = chunkText(client.updatesOf(sessionId));
  assert(said.includes('MCP server "mute": not connected yet'), said);
  assert(said.includes('MCP server "gone": could not be connected'), said);
  await client.close();
  assertEquals(await processesLeft(mark), []);
});

for (
  const [type, mode, path] of [["http", "streamableHttp", "mcp"], ["sse", "sse", "sse"]] as const
) {
  Deno.test({
    name: `a server is reached over ${type}, left alone by a cancel, and may go away`,
    ignore,
    fn: async () => {
      const port = freePort();
      const server = new Deno.Command(Deno.execPath(), {
        args: everythingArgs(mode, newMark()),
        env: { PORT: String(port) },
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      const reader = server.stderr.getReader();
      let heard = "";
      while (!/listening|running on/i.test(heard)) {
        const { value, done } = await reader.read();
        assert(!done, heard);
        heard += new TextDecoder().decode(value);
      }
      try {
        await using model = ModelServer.start([
          answer(call("e", "mcp__far__echo", { message: "hi" })),
          answer(text("Done.")),
          answer(call("l", "mcp__far__trigger-long-running-operation", { duration: 60 })),
          answer(call("g", "mcp__far__echo", { message: "anybody?" })),
          answer(text("Over.")),
        ]);
        await using agent = await startAgent({ model });
        const { client } = agent;
        const url = `http://127.0.0.1:${port}/${path}`;
        const sessionId = await agent.newSession({
          mcpServers: [{ type, name: "far", url, headers: [] }],
        });
        await client.prompt(sessionId, "go");
        assertEquals(results(model)["e"], "Echo: hi");

        const pending = client.prompt(sessionId, "wait");
        await client.nextUpdate((update) => update["status"] === "in_progress");
        const cancelled = performance.now();
        await client.notify("session/cancel", { sessionId });
        const answered = await pending;
        assert(answered.type === "result", JSON.stringify(answered));
        assertEquals(answered.result["stopReason"], "cancelled");
        assertLess(answered.at - cancelled, 2_000);

        server.kill("SIGKILL");
        await server.status;
        assertEquals((await client.prompt(sessionId, "again")).type, "result");
        const gone = results(model)["g"] ?? "";
        assert(gone.startsWith("Error: "), gone);
        const closing = performance.now();
        await client.call("session/close", { sessionId });
        assertLess(performance.now() - closing, 2_000);
      } finally {
        try {
          server.kill("SIGKILL");
        } catch {
          // The test has done it.
        }
        await reader.cancel();
        await server.status;
      }
    },
  });
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
