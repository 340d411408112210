import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { chunkText, member } from "../helpers/frames.ts";
import { historyProblems } from "../helpers/history_rules.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, type ModelTurn, reasoning, text, wait } from "../helpers/model_turn.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";
import { readLog } from "../helpers/stored_log.ts";

const FOREVER = new Promise<never>(() => {});

/** One way to be killed: what the model answers, and what the client sees last. */
interface Death {
  readonly name: string;
  readonly script: (round: number) => readonly ModelTurn[];
  /** Resolves at the moment of death. `from` is the number of updates before the prompt. */
  readonly moment: (client: AcpClient, round: number, from: number) => Promise<unknown>;
  readonly preset?: string;
}

function seen(client: AcpClient, from: number, mark: string): Promise<unknown> {
  return client.until(
    () => JSON.stringify(client.updates.slice(from)).includes(mark) || undefined,
    mark,
  );
}

function bash(round: number, id: string, command: string, more: JsonObject = {}) {
  return call(`${id}-${round}`, "bash", { command, description: "Run", ...more });
}

const BUSY = (round: number): ModelTurn[] => [
  answer(
    reasoning("Let me think."),
    ...Array.from({ length: 30 }, (_, index) => text(`word ${index} `)),
    call(`r1-${round}`, "read", { file_path: "a.txt" }),
    call(`r2-${round}`, "read", { file_path: "b.txt" }),
    bash(round, "x1", "for i in 1 2 3 4 5 6; do echo line $i; done"),
  ),
  answer(text("Then an edit. "), call(`g-${round}`, "glob", { pattern: "*.txt" })),
  answer(text("And more. "), bash(round, "x2", "echo two; false")),
  answer(text("At the end."), wait(FOREVER)),
];

const DEATHS: readonly Death[] = [
  {
    name: "mid-stream",
    script: (round) => [answer(reasoning("Hm."), text(`half ${round}`), wait(FOREVER))],
    moment: (client, round, from) => seen(client, from, `half ${round}`),
  },
  {
    name: "mid-tool",
    script: (round) => [
      answer(
        text("I run it."),
        call(`r-${round}`, "read", { file_path: "a.txt" }),
        bash(round, "x", `echo began ${round}; sleep 60`),
        call(`never-${round}`, "read", { file_path: "b.txt" }),
      ),
    ],
    moment: (client, round, from) => seen(client, from, `began ${round}\\\\n`),
  },
  {
    name: "mid-turn",
    script: (round) => [
      answer(text("First."), bash(round, "x", `echo done ${round}`)),
      answer(wait(FOREVER)),
    ],
    moment: (client, round, from) =>
      client.until(
        () =>
          client.updatesOf(String(client.updates.at(-1)?.sessionId)).some((update) =>
              update["toolCallId"] === `x-${round}` && update["status"] === "completed"
            ) && client.updates.length > from || undefined,
        "the command's end",
      ),
  },
  {
    name: "mid-question",
    script: (round) => [
      answer(
        bash(round, "q", "echo allowed", {
          sandbox_permissions: "danger-full-access",
          justification: "to see",
        }),
        call(`after-${round}`, "read", { file_path: "a.txt" }),
      ),
    ],
    moment: (client, round) =>
      client.until(
        () =>
          client.frames.some((frame) =>
            JSON.stringify(frame).includes("session/request_permission") &&
            JSON.stringify(frame).includes(`q-${round}`)
          ) || undefined,
        "the question",
      ),
  },
  {
    name: "at some update",
    script: BUSY,
    moment: (client, round, from) => {
      const count = 1 + (round * 7) % 11;
      return client.until(
        () => client.updates.length >= from + count || undefined,
        `${count} updates`,
      );
    },
  },
];

const ROUNDS = 20;

Deno.test({
  name: `${ROUNDS} rounds of kill -9 lose nothing that was acknowledged`,
  ignore: Deno.build.os === "windows",
  fn: async () => {
    let script: ModelTurn[] = [];
    await using model = ModelServer.start([], { respond: () => script.shift() });
    await using agent = await startAgent({ model, files: { "a.txt": "A\n", "b.txt": "B\n" } });
    const sessionId = await agent.newSession();
    let client = agent.client;
    for (let round = 0; round < ROUNDS; round++) {
      const death = DEATHS[round % DEATHS.length]!;
      const name = `round ${round}, ${death.name}`;
      client.handle("session/request_permission", () => FOREVER);
      script = [...death.script(round)];
      const from = client.updates.length;
      client.prompt(sessionId, `work ${round}`).catch(() => {
        // Killed before it can answer.
      });
      await death.moment(client, round, from);
      client.kill("SIGKILL");
      await client.exited;
      const live = client.updates.slice(from).map(({ update }) => update);
      const before = await readLog(agent.kv, sessionId);

      client = await agent.spawn();
      await client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
      const replayed = client.updatesOf(sessionId);
      assertEquals(missingFacts(live, replayed, `work ${round}`), [], name);

      script = [answer(text(`fine ${round}`))];
      const requests = model.requests.length;
      const next = await client.prompt(sessionId, `go on ${round}`);
      assert(next.type === "result", `${name}: ${JSON.stringify(next)}`);
      assertEquals(next.result, { stopReason: "end_turn" }, name);
      const { body } = await model.request(requests);
      assertEquals(wireProblems(body["messages"] as JsonObject[]), [], name);

      const after = await readLog(agent.kv, sessionId);
      assertEquals(after.slice(0, before.length), before, name);
      assertEquals(historyProblems(after), [], name);
    }
  },
});

/** What the client saw, other than pieces of what had not ended, and the replay lacks. */
function missingFacts(
  live: readonly JsonObject[],
  replayed: readonly JsonObject[],
  prompt: string,
): string[] {
  const known = facts(replayed);
  const said = chunkText(replayed, "agent_message_chunk") +
    chunkText(replayed, "agent_thought_chunk");
  const missing = [...facts(live)].filter((fact) => !known.has(fact));
  const lastDurable = live.findLastIndex((update) =>
    !String(update["sessionUpdate"]).endsWith("_chunk")
  );
  const finished = live.slice(0, lastDurable + 1);
  for (const kind of ["agent_message_chunk", "agent_thought_chunk"]) {
    const spoken = chunkText(finished, kind);
    if (!said.includes(spoken)) missing.push(`${kind}: ${spoken}`);
  }
  if (!chunkText(replayed, "user_message_chunk").includes(prompt)) missing.push(prompt);
  return missing;
}

/** Calls, and how they ended: as strings, so that they can be looked up. */
function facts(updates: readonly JsonObject[]): Set<string> {
  const found = new Set<string>();
  for (const update of updates) {
    const { toolCallId, title, kind, status } = update;
    if (update["sessionUpdate"] === "tool_call") {
      found.add(JSON.stringify([toolCallId, title, kind]));
    }
    if (status === "completed" || status === "failed") {
      const exit = member(update, "_meta", "terminal_exit");
      found.add(JSON.stringify([toolCallId, status, exit]));
    }
    if (update["sessionUpdate"] === "session_info_update") found.add(JSON.stringify(update));
  }
  return found;
}

/** Why a chat completions API would refuse these messages. */
function wireProblems(messages: readonly JsonObject[]): string[] {
  const problems: string[] = [];
  let owed: string[] = [];
  for (const [index, message] of messages.entries()) {
    const role = message["role"];
    if (role === "tool") {
      const id = owed.shift();
      if (message["tool_call_id"] !== id) {
        problems.push(`${index}: result of ${message["tool_call_id"]}, wanted ${id}`);
      }
      continue;
    }
    if (owed.length > 0) problems.push(`${index}: no result of ${owed}`);
    owed = [];
    if (role === "assistant") {
      const calls = (message["tool_calls"] ?? []) as JsonObject[];
      owed = calls.map((one) => String(one["id"]));
      if (calls.length === 0 && !message["content"]) problems.push(`${index}: an empty answer`);
    } else if (role === "user" && messages[index - 1]?.["role"] === "user") {
      problems.push(`${index}: two messages of the user in a row`);
    }
  }
  return owed.length > 0 ? [...problems, `no result of ${owed}`] : problems;
}

Deno.test("a session of schema 0 replays and goes on", async () => {
  const { storeFixture } = await import("../helpers/store_fixture.ts");
  await using model = ModelServer.start([answer(text("Still here."))]);
  await using agent: AgentWorld = await startAgent({ model, files: { "a.txt": "hello\n" } });
  const sessionId = await storeFixture(
    agent.kv,
    "session_v0.jsonl",
    undefined,
    agent.workspace,
  );
  await agent.client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const replayed = agent.client.updatesOf(sessionId);
  assertEquals(chunkText(replayed, "agent_message_chunk"), "Let me look.It says hello.");
  assertEquals(
    replayed.filter((update) => update["status"] === "completed").map((update) =>
      update["toolCallId"]
    ),
    ["call-1", "user-command-2"],
  );
  const next = await agent.client.prompt(sessionId, "Are you there?");
  assertEquals(next.type === "result" && next.result, { stopReason: "end_turn" });
  const { body } = await model.request(0);
  assertEquals(wireProblems(body["messages"] as JsonObject[]), []);
});
