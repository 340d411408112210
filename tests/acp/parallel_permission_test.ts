import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { member } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { PermissionDesk, statusesOf, toolResults } from "../helpers/permission_desk.ts";
import { programCommand } from "../helpers/program.ts";
import { startAgent } from "../helpers/start_agent.ts";

const PROGRAM = programCommand("tests/fixtures/parallel_agent.ts");

function marks(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

// With a tool registered for it: no tool of the program itself asks and runs in parallel.
Deno.test("three open requests of one scope: allow-always on one settles them, and no other", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model, client: { command: PROGRAM } });
  const { client } = agent;
  const three = Promise.withResolvers<void>();
  const other = Promise.withResolvers<string>();
  const never = new Promise<JsonObject>(() => {});
  const desk = new PermissionDesk(client, async ({ callId }) => {
    if (desk.asked.length === 4) three.resolve();
    await three.promise;
    if (callId === "a2") return "allow-always";
    return callId === "b" ? await other.promise : never;
  });
  model.push(
    answer(
      ...["a1", "a2", "a3"].map((id) => call(id, "mark", { scope: "a" })),
      call("b", "mark", { scope: "b" }),
    ),
    answer(text("done")),
  );
  const sessionId = await agent.newSession();
  const pending = client.prompt(sessionId, "go");
  await three.promise;
  for (const { status } of desk.asked) assertEquals(status, "pending");
  // The dialogs of the settled two are taken down; the one of the other scope stays.
  const dismissed = await client.until(() => {
    const found = client.frames.filter(({ message }) => message?.["method"] === "$/cancel_request");
    return found.length >= 2 ? found : undefined;
  });
  for (const id of ["a1", "a2", "a3"]) {
    await client.nextUpdate((update) =>
      update["toolCallId"] === id && update["status"] === "completed"
    );
  }
  assertEquals(statusesOf(client, "b"), ["pending", "pending"]);
  other.resolve("reject-once");
  const answered = await pending;
  assert(answered.type === "result");
  assertEquals(marks(agent.workspace), ["a1", "a2", "a3"]);
  const requests = client.frames.flatMap(({ message }) =>
    message?.["method"] === "session/request_permission"
      ? [[message["id"], String(member(message, "params", "toolCall")["toolCallId"])] as const]
      : []
  );
  const calls = dismissed.map(({ message }) =>
    requests.find(([id]) => id === member(message, "params")["requestId"])?.[1]
  );
  assertEquals(calls.sort(), ["a1", "a3"]);
  const told = toolResults(model.requests[1]!.body);
  assertStringIncludes(told["b"]!, "the user refused");

  // Later ones of the scope are not asked about, in this process and the next.
  model.push(answer(call("a4", "mark", { scope: "a" })), answer(text("done")));
  await client.prompt(sessionId, "again");
  await client.close();
  const second = await agent.spawn();
  const later = new PermissionDesk(second, "reject-once");
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  model.push(
    answer(call("a5", "mark", { scope: "a" }), call("b2", "mark", { scope: "b" })),
    answer(text("done")),
  );
  await second.prompt(sessionId, "again");
  assertEquals(later.calls, ["b2"]);
  assertEquals(desk.calls.length, 4);
  assertEquals(marks(agent.workspace), ["a1", "a2", "a3", "a4", "a5"]);
});

Deno.test("allow-always in one session settles nothing in another", async () => {
  await using model = ModelServer.start([], {
    respond: ({ body }) => {
      const asked = JSON.stringify(body["messages"]).includes(`"role":"tool"`);
      return asked ? answer(text("done")) : answer(call("a", "mark", { scope: "a" }));
    },
  });
  await using agent = await startAgent({ model, client: { command: PROGRAM } });
  const { client } = agent;
  const [one, two] = [await agent.newSession(), await agent.newSession()];
  const both = Promise.withResolvers<void>();
  const second = Promise.withResolvers<string>();
  const desk = new PermissionDesk(client, async ({ sessionId }) => {
    if (desk.asked.length === 2) both.resolve();
    await both.promise;
    return sessionId === one ? "allow-always" : await second.promise;
  });
  const [first, other] = [client.prompt(one, "go"), client.prompt(two, "go")];
  assertEquals((await first).type, "result");
  const open = client.updates.filter((frame) => frame.sessionId === two)
    .map(({ update }) => update["status"]).filter((status) => status !== undefined);
  assertEquals([...new Set(open)], ["pending"]);
  second.resolve("reject-once");
  assertEquals((await other).type, "result");
  assertEquals(desk.calls.length, 2);
  assert(!client.frames.some(({ message }) => message?.["method"] === "$/cancel_request"));
});

Deno.test("session/cancel takes down every open question of its session", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model, client: { command: PROGRAM } });
  const { client } = agent;
  const three = Promise.withResolvers<void>();
  const desk = new PermissionDesk(client, () => {
    if (desk.asked.length === 3) three.resolve();
    return new Promise<JsonObject>(() => {});
  });
  model.push(answer(...["a1", "a2", "a3"].map((id) => call(id, "mark", { scope: id }))));
  const sessionId = await agent.newSession();
  const pending = client.prompt(sessionId, "go");
  await three.promise;
  await client.notify("session/cancel", { sessionId });
  const answered = await pending;
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "cancelled" });
  await client.until(() =>
    client.frames.filter(({ message }) => message?.["method"] === "$/cancel_request").length === 3
      ? true
      : undefined
  );
  assertEquals(desk.calls, ["a1", "a2", "a3"]);
  assertEquals(marks(agent.workspace), []);
});
