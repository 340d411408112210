/**
 * `deno task demo`: the real server over stdio with a scripted model on this machine. No key and no
 * network. It edits a file, runs a command with live output, cancels a long one, closes the session
 * and loads it again in a new process. Exits with 1 where anything is not as it should be.
 */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../tools/json.ts";
import type { AcpClient } from "./helpers/acp_client.ts";
import { type Answer, mergeChunks, terminalOutput } from "./helpers/frames.ts";
import { ModelServer } from "./helpers/model_server.ts";
import { answer, call, type ModelTurn, reasoning, text } from "./helpers/model_turn.ts";
import { programCommand } from "./helpers/program.ts";
import { type AgentWorld, startAgent } from "./helpers/start_agent.ts";
import { Transcript } from "./helpers/transcript.ts";

const FILE = "greeting.txt";
const SLOW = "for n in 1 2 3; do echo tick $n; sleep 0.4; done";
const LONG = "echo started; sleep 60; echo never";

if (import.meta.main) await main();

async function main(): Promise<void> {
  await cacheProgram();
  await using model = ModelServer.start();
  await using world = await startAgent({ model, files: { [FILE]: "Hello, world\n" } });
  const view = show(world.client, world.workspace);
  const sessionId = await world.newSession();
  say(`# Session ${sessionId.slice(0, 8)} in a workspace with ${FILE}`);

  await edit(world, model, sessionId, view);
  await runCommand(world, model, sessionId, view);
  await cancel(world, model, sessionId, view);

  const live = comparable(world.client.updatesOf(sessionId));
  await world.client.call("session/close", { sessionId });
  const exit = await world.client.close();
  expect(exit.code === 0, `the server exits with 0, not ${exit.code}`);
  say(`\n# Closed. The server has exited with ${exit.code}. A new process loads the session:`);

  await reload(world, sessionId, live);
  say("\nThe demo ran as it should.");
}

/** A file edit: the model reads, then edits. */
async function edit(world: AgentWorld, model: ModelServer, sessionId: string, view: View) {
  const path = world.path(FILE);
  model.push(
    answer(
      reasoning("The greeting is in one file."),
      text("I will look at the greeting."),
      call("read-1", "read", { file_path: path }),
    ),
    answer(call("edit-1", "edit", {
      file_path: path,
      old_string: "Hello, world",
      new_string: "Good morning, world",
    })),
    answer(text("The greeting is friendlier now.")),
  );
  await prompt(world.client, sessionId, view, "Make the greeting friendlier");
  const content = await Deno.readTextFile(path);
  expect(content === "Good morning, world\n", `${FILE} is edited; it holds ${content}`);
}

/** A command whose output arrives while it runs. */
async function runCommand(world: AgentWorld, model: ModelServer, sessionId: string, view: View) {
  model.push(bashTurn("bash-1", SLOW, "Count to three slowly"), answer(text("It counted.")));
  const { client } = world;
  const from = client.frames.length;
  await prompt(client, sessionId, view, "Count to three in the shell");
  const parts = client.updates.filter((one) => one.index >= from)
    .filter(({ update }) => terminalOutput([update], "bash-1") !== "");
  const output = terminalOutput(parts.map(({ update }) => update), "bash-1");
  expect(output.startsWith("tick 1\ntick 2\ntick 3\n"), `the output is complete: ${output}`);
  const spread = (parts.at(-1)?.at ?? 0) - (parts[0]?.at ?? 0);
  expect(spread > 600, `the output is live; its frames lie ${Math.round(spread)} ms apart`);
  say(`  (${parts.length} frames of output, spread over ${Math.round(spread)} ms)`);
}

/** A long command that the user cancels. */
async function cancel(world: AgentWorld, model: ModelServer, sessionId: string, view: View) {
  const { client } = world;
  model.push(bashTurn("bash-2", LONG, "Wait for a minute"));
  const from = client.frames.length;
  say(`\n> Wait a minute`);
  const pending = client.prompt(sessionId, "Wait a minute");
  await client.nextUpdate((update) => terminalOutput([update], "bash-2").includes("started"), from);
  const cancelledAt = performance.now();
  await client.notify("session/cancel", { sessionId });
  const end = await pending;
  view.catchUp();
  expectStop(end, "cancelled");
  const took = Math.round(end.at - cancelledAt);
  expect(took < 2000, `a cancel is answered within 2 s; it took ${took} ms`);
  say(`  (cancelled: answered after ${took} ms)`);
}

/** The session in a new process: what it shows equals what was shown live. */
async function reload(world: AgentWorld, sessionId: string, live: readonly JsonObject[]) {
  const client = await world.spawn();
  const view = show(client, world.workspace);
  await client.call("session/load", { sessionId, cwd: world.workspace, mcpServers: [] });
  view.catchUp();
  const replay = comparable(client.updatesOf(sessionId));
  for (let at = 0; at < Math.max(live.length, replay.length); at++) {
    const [one, two] = [live[at], replay[at]];
    expect(
      isDeepStrictEqual(one, two),
      `replay equals live; update ${at} was ${JSON.stringify(one)} and is ${JSON.stringify(two)}`,
    );
  }
  say(`  (${replay.length} updates, equal to the live ones)`);
  const from = client.frames.length;
  await prompt(client, sessionId, view, `!echo The file says: $(cat ${FILE})`);
  const output = client.updatesOf(sessionId, from - 1).map((update) =>
    terminalOutput([update], String(update["toolCallId"]))
  ).join("");
  expect(output.includes("Good morning"), `the loaded session runs commands; it printed ${output}`);
}

interface View {
  /** Prints what arrived since the last time. */
  catchUp(): void;
}

/** Prints a client's session updates as text. What the server asks for is allowed, visibly. */
function show(client: AcpClient, cwd: string): View {
  const transcript = new Transcript(cwd);
  let shown = 0;
  client.handle("session/request_permission", (params) => {
    const options = params["options"] as unknown as { kind: string; optionId: string }[];
    const allow = options.find(({ kind }) => kind === "allow_once");
    say(`  (asked for permission: ${JSON.stringify(params["toolCall"])}; allowed once)`);
    return { outcome: { outcome: "selected", optionId: allow?.optionId ?? "" } };
  });
  return {
    catchUp() {
      const fresh = client.updates.slice(shown);
      shown = client.updates.length;
      for (const line of fresh.flatMap(({ update }) => transcript.add(update))) say(line);
      for (const line of transcript.flush()) say(line);
    },
  };
}

async function prompt(client: AcpClient, sessionId: string, view: View, words: string) {
  say(`\n> ${words}`);
  const end = await client.prompt(sessionId, words);
  view.catchUp();
  expectStop(end, "end_turn");
}

function bashTurn(id: string, command: string, description: string): ModelTurn {
  return answer(call(id, "bash", { command, description }));
}

/** What a person sees of a session, without how it was cut and without their own words. */
function comparable(updates: readonly JsonObject[]): JsonObject[] {
  const shown = ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"];
  return mergeChunks(updates.filter((update) => shown.includes(String(update["sessionUpdate"]))));
}

function expectStop(end: Answer, reason: string): void {
  const got = end.type === "result" ? end.result["stopReason"] : JSON.stringify(end.error);
  expect(got === reason, `the turn ends with ${reason}, not ${got}`);
}

function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`Not as it should be: ${what}`);
}

/** Puts the program's packages into Deno's cache, since it starts with a home of its own. */
async function cacheProgram(): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--quiet", programCommand().at(-1) ?? ""],
    stdin: "null",
  }).spawn().status;
  expect(success, "the program's packages can be loaded");
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
