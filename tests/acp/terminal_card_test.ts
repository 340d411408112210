import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { isCommandList, member, type UpdateFrame } from "../helpers/frames.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

function outputs(frames: readonly UpdateFrame[], key = "terminal_output"): UpdateFrame[] {
  return frames.filter(({ update }) => member(update, "_meta", key)["data"] !== undefined);
}

function data(frame: UpdateFrame, key = "terminal_output"): string {
  return String(member(frame.update, "_meta", key)["data"]);
}

function isCall(update: JsonObject): boolean {
  return update["sessionUpdate"] === "tool_call";
}

async function run(agent: AgentWorld, command: string): Promise<readonly UpdateFrame[]> {
  const from = agent.client.frames.length - 1;
  const answered = await agent.client.prompt(await agent.newSession(), `!${command}`);
  assertEquals(answered.type, "result", JSON.stringify(answered));
  return agent.client.updates.filter(({ index, update }) =>
    index > from && update["sessionUpdate"] !== "session_info_update" && !isCommandList(update)
  );
}

Deno.test("a terminal card opens, streams what is new, and ends with the exit", async () => {
  await using agent = await startAgent();
  const { client } = agent;
  const sessionId = await agent.newSession();
  const pending = client.prompt(sessionId, "!echo a; sleep 3; echo b");
  const opened = await client.nextUpdate((update) => update["sessionUpdate"] === "tool_call");
  const first = await client.nextUpdate((_, frame) => outputs([frame]).length > 0);
  await pending;
  assertEquals(data(first), "a\n");
  assertLess(first.at - opened.at, 500);
  const { toolCallId } = opened.update as { toolCallId: string };
  const update = opened.update;
  assertEquals(update["title"], "echo a; sleep 3; echo b");
  assertEquals(update["kind"], "execute");
  assertEquals(update["status"], "in_progress");
  assertEquals((update["content"] as JsonObject[]).at(-1), {
    type: "terminal",
    terminalId: toolCallId,
  });
  assertEquals(member(update, "_meta", "terminal_info"), {
    terminal_id: toolCallId,
    cwd: agent.workspace,
  });
  const updates = client.updates.filter((frame) => frame.sessionId === sessionId);
  assertEquals(outputs(updates).map((frame) => data(frame)).join(""), "a\nb\n");
  const last = updates.at(-1)!.update;
  assertEquals(last["status"], "completed");
  assertEquals(last["content"], undefined);
  assertEquals(member(last, "_meta", "terminal_exit"), { terminal_id: toolCallId, exit_code: 0 });
});

Deno.test("a failed command is a failed card with its exit code or signal", async () => {
  await using agent = await startAgent();
  for (
    const [command, exit] of [
      ["exit 7", { exit_code: 7 }],
      ["kill -9 $$", { signal: "SIGKILL" }],
      ["bash -c 'kill -9 $$'; exit $?", { exit_code: 137 }],
    ] as const
  ) {
    const last = (await run(agent, command)).at(-1)!.update;
    assertEquals(last["status"], "failed", command);
    const { terminal_id: _, ...ended } = member(last, "_meta", "terminal_exit");
    assertEquals(ended, exit, command);
  }
});

Deno.test("a client without terminals gets the description and one console block", async () => {
  await using agent = await startAgent({ initialize: { clientCapabilities: {} } });
  const command = "printf '\\033[31mred\\033[0m 1%%\\r50%%\\rdone\\n```\\n'; exit 2";
  const updates = await run(agent, command);
  assertEquals(updates.map(({ update }) => update["sessionUpdate"]), [
    "tool_call",
    "tool_call_update",
  ]);
  const text = JSON.stringify(updates);
  assert(!text.includes("_meta"));
  const last = updates.at(-1)!.update;
  assertEquals(last["status"], "failed");
  const blocks = (last["content"] as JsonObject[]).map((block) => member(block, "content")["text"]);
  assertEquals(blocks.at(-1), "````console\ndone\n```\n[exit code: 2]\n````");
  assertStringIncludes(text, '"title":"printf');
});

Deno.test("a later initialize does not split a call from its result", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  await agent.client.initialize({ clientCapabilities: {} });
  await agent.client.prompt(sessionId, "!echo a");
  const updates = agent.client.updatesOf(sessionId);
  assert(JSON.stringify(updates.find(isCall)).includes("terminal_info"));
  assert(JSON.stringify(updates.at(-1)).includes("terminal_exit"));
});

Deno.test("a command cannot forge how it ended", async () => {
  await using agent = await startAgent();
  for (
    const [command, exit] of [
      ["echo '=0' > /proc/1/fd/2; exit 7", { exit_code: 7 }],
      ["echo '+' > /proc/1/fd/2; echo 'x=0' > /proc/1/fd/2; exit 7", { exit_code: 7 }],
      ["echo '=0' > /proc/1/fd/2; kill -9 $$", { signal: "SIGKILL" }],
      ["echo '=137' > /proc/1/fd/2; exit 0", { exit_code: 0 }],
      ["head -c 1000000 /dev/zero > /proc/1/fd/2; exit 3", { exit_code: 3 }],
    ] as const
  ) {
    const last = (await run(agent, command)).at(-1)!.update;
    const { terminal_id: _, ...ended } = member(last, "_meta", "terminal_exit");
    assertEquals(ended, exit, command);
  }
});
