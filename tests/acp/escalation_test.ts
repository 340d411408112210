import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import type { EventBody } from "../../session/events.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { PermissionDesk, statusesOf, toolResults } from "../helpers/permission_desk.ts";
import { startAgent } from "../helpers/start_agent.ts";
import { addTurn } from "../helpers/stored_log.ts";

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** A session whose log holds these events, in a program of its own. */
async function sessionWith(model: ModelServer, ...events: EventBody[]) {
  const agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  await agent.client.close();
  await addTurn(agent.kv, sessionId, ...events);
  const client = await agent.spawn();
  await client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  return { agent, client, sessionId };
}

Deno.test("an escalation that is not wider or has no reason is refused before anybody is asked", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const desk = new PermissionDesk(client, "allow-once");
  const wide = "danger-full-access";
  const cases: readonly (readonly [JsonObject, string])[] = [
    [
      { sandbox_permissions: "workspace-write", justification: "because" },
      "must be wider than the current mode: current mode is workspace-write",
    ],
    [{ sandbox_permissions: wide }, "needs a justification"],
    [{ sandbox_permissions: wide, justification: "  " }, "needs a justification"],
    [{ justification: "because" }, "goes with sandbox_permissions"],
    [{ sandbox_permissions: "read-only", justification: "because" }, "sandbox_permissions"],
    [{ sandbox_permissions: "root", justification: "because" }, "sandbox_permissions"],
  ];
  model.push(
    answer(
      ...cases.map(([more], index) =>
        call(`c${index}`, "bash", { command: `touch ${agent.path(`c${index}`)}`, ...more })
      ),
    ),
    answer(text("done")),
  );
  await client.prompt(await agent.newSession(), "go");
  assertEquals(desk.calls, []);
  const told = toolResults(model.requests[1]!.body);
  for (const [index, [, words]] of cases.entries()) {
    assertStringIncludes(told[`c${index}`]!, "Error: ");
    assertStringIncludes(told[`c${index}`]!, words);
    assertEquals(statusesOf(client, `c${index}`).at(-1), "failed");
    assert(!await exists(agent.path(`c${index}`)));
  }
});

Deno.test("an escalation counts for its one call", async () => {
  await using model = ModelServer.start([]);
  await using agent = await startAgent({ model });
  const desk = new PermissionDesk(agent.client, "allow-once");
  const touch = (id: string, more: JsonObject = {}) =>
    call(id, "bash", { command: `touch ${agent.home}/${id}`, ...more });
  const wide = { sandbox_permissions: "danger-full-access", justification: "because" };
  model.push(
    answer(touch("a", wide), touch("b"), touch("c", wide)),
    answer(text("done")),
  );
  await agent.client.prompt(await agent.newSession(), "go");
  assertEquals(desk.calls, ["a", "c"]);
  assertStringIncludes(toolResults(model.requests[1]!.body)["b"]!, "Read-only file system");
  assertEquals(
    [
      await exists(`${agent.home}/a`),
      await exists(`${agent.home}/b`),
      await exists(`${agent.home}/c`),
    ],
    [true, false, true],
  );
});

Deno.test("a read-only session escalates to the workspace, and not a step further", async () => {
  await using model = ModelServer.start([]);
  const { agent, client, sessionId } = await sessionWith(model, {
    type: "sandbox/mode",
    data: { mode: "read-only" },
  });
  await using _agent = agent;
  await Deno.mkdir(agent.path(".git/hooks"), { recursive: true });
  const desk = new PermissionDesk(client, "allow-once");
  const script = `touch in; touch .git/hooks/x; touch ${agent.home}/out`;
  const wider = { sandbox_permissions: "workspace-write", justification: "to build" };
  model.push(
    answer(
      call("plain", "bash", { command: "touch plain" }),
      call("write", "write", { file_path: "written", content: "x" }),
      call("wider", "bash", { command: script, ...wider }),
    ),
    answer(text("done")),
  );
  await client.prompt(sessionId, "go");
  assertEquals(desk.calls, ["wider"]);
  assertStringIncludes(desk.asked[0]!.card, "escalate sandbox to workspace-write: to build");
  const told = toolResults(model.requests[1]!.body);
  assertStringIncludes(told["plain"]!, "Read-only file system");
  assertStringIncludes(told["write"]!, `"read-only" allows no writes at all`);
  const names = [...Deno.readDirSync(agent.workspace)].map(({ name }) => name).sort();
  assertEquals(names, [".git", "in"]);
  assertEquals([...Deno.readDirSync(agent.path(".git/hooks"))], []);
  assert(!await exists(`${agent.home}/out`));
});

Deno.test("where the session never asks, what would be asked is refused with a reason", async () => {
  await using model = ModelServer.start([]);
  const { agent, client, sessionId } = await sessionWith(model, {
    type: "approval/policy",
    data: { policy: "never" },
  });
  await using _agent = agent;
  const desk = new PermissionDesk(client, "allow-once");
  const wide = { sandbox_permissions: "danger-full-access", justification: "because" };
  model.push(
    answer(
      call("b", "bash", { command: `touch ${agent.home}/b`, ...wide }),
      call("w", "write", { file_path: `${agent.home}/w`, content: "x" }),
      call("ok", "bash", { command: "echo fine" }),
    ),
    answer(text("done")),
  );
  await client.prompt(sessionId, "go");
  assertEquals(desk.calls, []);
  const told = toolResults(model.requests[1]!.body);
  for (const id of ["b", "w"]) {
    assertStringIncludes(told[id]!, "never asks");
    assert(!await exists(`${agent.home}/${id}`));
  }
  assertStringIncludes(told["b"]!, "escalate sandbox to danger-full-access: because");
  assertStringIncludes(told["w"]!, "write outside the workspace");
  assertEquals(told["ok"], "fine\n");
});
