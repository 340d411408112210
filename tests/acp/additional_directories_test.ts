import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { PermissionDesk, toolResults } from "../helpers/permission_desk.ts";
import { startAgent } from "../helpers/start_agent.ts";

const LINUX = Deno.build.os === "linux";

Deno.test({
  name:
    "additional directories are writable for file tools and commands, for as long as they are sent",
  ignore: !LINUX,
  fn: async () => {
    await using model = ModelServer.start([]);
    await using agent = await startAgent({ model });
    const shared = join(agent.workspace, "..", "shared");
    await Deno.mkdir(`${shared}/.git/hooks`, { recursive: true });
    await Deno.writeTextFile(`${shared}/.git/config`, "[core]\n");
    const desk = new PermissionDesk(agent.client, "reject-once");
    const steps = answer(
      call("w", "write", { file_path: `${shared}/written`, content: "x" }),
      call("g", "write", { file_path: `${shared}/.git/hooks/h`, content: "x" }),
      call("b", "bash", {
        command: `touch ${shared}/touched && echo fine; (echo x > ${shared}/.git/config) 2>&1`,
      }),
      call("o", "bash", { command: `touch ${agent.home}/out` }),
    );

    const { capabilities } = await capabilitiesOf(agent);
    assertEquals(capabilities, {});
    const sessionId = await agent.newSession({ additionalDirectories: [shared] });
    model.push(steps, answer(text("done")));
    await agent.client.prompt(sessionId, "go");
    const system = JSON.stringify(model.requests[0]!.body["messages"]);
    assertStringIncludes(system, `These folders belong to the work too: ${shared}.`);
    const told = toolResults(model.requests[1]!.body);
    assertStringIncludes(told["w"]!, "Created file");
    assertStringIncludes(told["g"]!, "Error: Cannot write");
    assertStringIncludes(told["b"]!, "fine\n");
    assertStringIncludes(told["b"]!, "Read-only file system");
    assertStringIncludes(told["o"]!, "[exit code: 1]");
    assertEquals(desk.calls, []);
    assertEquals(Deno.readTextFileSync(`${shared}/.git/config`), "[core]\n");

    await agent.client.call("session/close", { sessionId });
    const params = { sessionId, cwd: agent.workspace, mcpServers: [] };
    await agent.client.call("session/load", params);
    await Deno.remove(`${shared}/written`);
    model.push(steps, answer(text("done")));
    await agent.client.prompt(sessionId, "again");
    const later = toolResults(model.requests[3]!.body);
    assertEquals(desk.calls, ["w-2", "g-2"]);
    assert(!later["b-2"]!.includes("fine"), later["b-2"]);
  },
});

Deno.test("an additional directory that is not absolute is refused, one that is gone is named", async () => {
  await using agent = await startAgent();
  const refused = await agent.client.request("session/new", {
    cwd: agent.workspace,
    mcpServers: [],
    additionalDirectories: [agent.workspace, "shared"],
  });
  assert(refused.type === "error");
  assertEquals(refused.error.code, -32602);
  assertStringIncludes(
    refused.error.message,
    'additionalDirectories must be absolute paths; got "shared"',
  );
});

async function capabilitiesOf(agent: Awaited<ReturnType<typeof startAgent>>) {
  const answered = await agent.client.initialize();
  const agentCapabilities = answered["agentCapabilities"] as Record<string, unknown>;
  const session = agentCapabilities["sessionCapabilities"] as Record<string, unknown>;
  return { capabilities: session["additionalDirectories"] };
}
