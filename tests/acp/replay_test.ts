import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { mergeChunks } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, drop, failure, reasoning, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

const CAPABILITIES: readonly (readonly [string, JsonObject])[] = [
  ["terminal_output", { _meta: { terminal_output: true } }],
  ["terminal_output_delta", { _meta: { terminal_output_delta: true } }],
  ["no terminal", {}],
];

for (const [name, clientCapabilities] of CAPABILITIES) {
  Deno.test(`session/load repeats the live run for a client with ${name}`, async () => {
    await using model = ModelServer.start([
      answer(
        reasoning("Look at "),
        reasoning("the file."),
        text("I read it."),
        call("r", "read", { file_path: "a.txt" }),
        call("s", "glob", { pattern: "*.txt" }),
      ),
      answer(call("e", "edit", { file_path: "a.txt", old_string: "one", new_string: "two" })),
      answer(
        text("Now a command."),
        call("b", "bash", {
          command:
            "printf '\\033[31mred\\033[0m\\n'; for i in 1 2 3; do echo $i; sleep 0.1; done; exit 3",
          description: "Print and fail",
        }),
        call("w", "bash", { command: "printf 'a\\rb\\n'", description: "Overwrite" }),
      ),
      answer(call("x", "nothing", { a: 1 }), call("y", "read", { file_path: 7 })),
      answer(text("half of it"), drop()),
      failure(503),
      answer(reasoning("So."), text("Done.")),
    ]);
    await using agent = await startAgent({
      model,
      files: { "a.txt": "one\n" },
      initialize: { clientCapabilities },
    });
    const sessionId = await agent.newSession({
      mcpServers: [{ name: "docs", command: "/bin/true", args: [], env: [] }],
    });
    const first = await agent.client.prompt(sessionId, [
      { type: "text", text: "Please " },
      { type: "resource_link", uri: "file:///a.txt", name: "a.txt" },
    ]);
    assert(first.type === "result", JSON.stringify(first));
    const command = await agent.client.prompt(sessionId, "!echo out; echo err >&2; false");
    assertEquals(command.type, "result");
    const live = mergeChunks(agent.client.updatesOf(sessionId));
    await agent.client.close();

    const second = await agent.spawn();
    await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
    const replayed = second.updatesOf(sessionId);
    const isUser = (update: JsonObject) => update["sessionUpdate"] === "user_message_chunk";
    assertEquals(mergeChunks(replayed.filter((update) => !isUser(update))), live);
    assertEquals(
      replayed.filter(isUser).map((update) => (update["content"] as JsonObject)["type"]),
      [
        "text",
        "resource_link",
        "text",
      ],
    );
  });
}

Deno.test("session/load repeats a cancelled command with the lines it had shown", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  const pending = agent.client.prompt(sessionId, "!echo one; echo two; echo three; sleep 60");
  await agent.client.until(
    () => JSON.stringify(agent.client.updates).includes("three\\\\n") || undefined,
    "the third line",
  );
  await agent.client.notify("session/cancel", { sessionId });
  const answered = await pending;
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "cancelled" });
  const live = mergeChunks(agent.client.updatesOf(sessionId));
  await agent.client.close();
  const second = await agent.spawn();
  await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const replayed = second.updatesOf(sessionId)
    .filter((update) => update["sessionUpdate"] !== "user_message_chunk");
  assertEquals(mergeChunks(replayed), live);
  const last = live.at(-1);
  assertEquals(last?.["status"], "failed");
  assertEquals(JSON.stringify(last).includes("one\\ntwo\\nthree\\n"), true);
});
