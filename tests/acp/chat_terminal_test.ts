/** `chat` on a real terminal, as a person uses it. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { ModelServer } from "../helpers/model_server.ts";
import {
  answer,
  call,
  hang,
  type ModelTurn,
  reasoning,
  text,
  wait,
} from "../helpers/model_turn.ts";
import { processesLeft, processesWith } from "../helpers/processes.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";
import { hasTerminal, TerminalProgram } from "../helpers/terminal_program.ts";

const CTRL_C = "\x03";
const CTRL_D = "\x04";
const UP = "\x1b[A";

/** A chat at its first prompt. */
interface Desk extends AsyncDisposable {
  readonly model: ModelServer;
  readonly world: AgentWorld;
  readonly chat: TerminalProgram;
  /** In the command line of the chat and of its agent, and of nothing else. */
  readonly mark: string;
}

async function desk(
  turns: readonly ModelTurn[],
  { args = [], then }: { readonly args?: readonly string[]; readonly then?: string } = {},
): Promise<Desk> {
  const stack = new AsyncDisposableStack();
  const model = stack.use(ModelServer.start(turns));
  const world = stack.use(
    await startAgent({ model, env: { NO_COLOR: undefined }, files: { "a.txt": "one\ntwo\n" } }),
  );
  const mark = `--kv=${world.kv}`;
  const chat = stack.use(TerminalProgram.start([mark, "chat", ...args], {
    env: world.env,
    cwd: world.workspace,
    ...then !== undefined && { then },
  }));
  await chat.until("Ctrl-D leaves");
  await chat.until("> ");
  return { model, world, chat, mark, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function test(name: string, turns: readonly ModelTurn[], run: (desk: Desk) => Promise<void>): void {
  Deno.test({
    name: `chat on a terminal: ${name}`,
    ignore: !hasTerminal,
    fn: async () => {
      await using opened = await desk(turns);
      await run(opened);
    },
  });
}

function bash(id: string, command: string, more: JsonObject = {}): ModelTurn {
  return answer(call(id, "bash", { command, ...more }));
}

const WIDER = { sandbox_permissions: "danger-full-access", justification: "it is needed" };

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** What the model was told of its last call. */
function lastResult(model: ModelServer): string {
  const messages = model.requests.at(-1)?.body["messages"] as JsonObject[];
  return String(messages.findLast(({ role }) => role === "tool")?.["content"]);
}

test("an edit and a command are cards, and output is live", [
  answer(reasoning("Hm."), text("Look:"), call("r", "read", { file_path: "a.txt" })),
  answer(call("e", "edit", { file_path: "a.txt", old_string: "two", new_string: "three" })),
  bash("b", "echo begun; until [ -e go ]; do sleep 0.02; done; printf '\\033[32mover\\n'; exit 3"),
  answer(text("That was it.")),
], async ({ chat, world, mark }) => {
  await chat.type("go on\r");
  await chat.until("\x1b[2mHm.\x1b[0m");
  await chat.until("Look:");
  await chat.until("Read a.txt");
  await chat.until("Edit a.txt");
  await chat.until("│ \x1b[31m- two\x1b[0m\r\n│ \x1b[32m+ three\x1b[0m");
  await chat.until("$\x1b[0m \x1b[1mecho begun");
  await chat.until("│ begun");
  await Deno.writeTextFile(world.path("go"), "");
  await chat.until("│ \x1b[32mover\x1b[0m");
  await chat.until("✗ \x1b[31mexit 3\x1b[0m");
  await chat.until("That was it.");
  await chat.until("> ");
  await chat.type(CTRL_D);
  assertEquals(await chat.exited(), 0);
  // With the options of this chat: elsewhere there is no such session.
  assertStringIncludes(chat.shown, `mod.ts ${mark} chat --resume `);
});

test("the card of a command hides no part of it", [
  bash("one", "true \x1b]; touch ../hidden \x07", WIDER),
  answer(text("Asked.")),
], async ({ chat, world }) => {
  await chat.type("go on\r");
  await chat.until("$\x1b[0m \x1b[1mtrue \\u001b]; touch ../hidden \\u0007");
  await chat.until("Allow it? ");
  await chat.type("1\r");
  await chat.until("Asked.");
  // What was shown is what was run.
  assert(await exists(world.path("../hidden")));
});

test("approvals are given by number, and nothing typed before counts", [
  bash("one", "until [ -e go ]; do sleep 0.02; done"),
  bash("two", "touch ../allowed", WIDER),
  bash("three", "touch ../rejected", WIDER),
  answer(text("Both asked.")),
], async ({ chat, world, model }) => {
  await chat.type("go on\r");
  await chat.until("until [ -e go ]");
  await chat.type("1\r1\r");
  await Deno.writeTextFile(world.path("go"), "");
  await chat.until("Needs your approval");
  await chat.until("3) Reject");
  await chat.until("Allow it? ");
  assert(!await exists(world.path("../allowed")));
  await chat.type("yes\r");
  await chat.until("Type a number from 1 to 3");
  await chat.until("Allow it? ");
  await chat.type("1\r");
  await chat.until("✓");
  assert(await exists(world.path("../allowed")));
  await chat.until("Allow it? ");
  await chat.type("3\r");
  await chat.until("Both asked.");
  assert(!await exists(world.path("../rejected")));
  assertStringIncludes(lastResult(model), "the user refused");
});

test("Ctrl-C at an approval cancels the turn", [
  bash("one", "touch ../allowed", WIDER),
], async ({ chat, world }) => {
  await chat.type("go on\r");
  await chat.until("Allow it? ");
  await chat.type(CTRL_C);
  await chat.until("Cancelled\r\n");
  await chat.until("> ");
  assert(!await exists(world.path("../allowed")));
});

const QUESTIONS = [
  { question: "Which database?", options: [{ label: "Postgres" }, { label: "SQLite" }] },
  { question: "Which ones?", multiSelect: true, options: [{ label: "A" }, { label: "B" }] },
  { question: "Which colour?", options: [{ label: "Red" }, { label: "Blue" }] },
  { question: "What name?" },
];

test("questions are answered by number or in own words", [
  answer(call("q", "ask_user_question", { questions: QUESTIONS })),
  answer(text("Thanks.")),
], async ({ chat, model }) => {
  await chat.type("ask me\r");
  for (
    const [asked, reply] of [
      ["Which database?", "2"],
      ["Which ones?", "1, 2"],
      ["Which colour?", "none of these"],
      ["What name?", "dsh"],
    ] as const
  ) {
    await chat.until(asked);
    await chat.until(": \x1b[0m");
    await chat.type(`${reply}\r`);
  }
  await chat.until("Thanks.");
  for (const told of ["SQLite", "A", "B", "none of these", "dsh"]) {
    assertStringIncludes(lastResult(model), told);
  }
});

test("Ctrl-C cancels the turn, twice at the prompt leaves", [
  bash("b", "echo started; sleep 600"),
  hang(),
], async ({ chat, model }) => {
  await chat.type("wait\r");
  await chat.until("│ started");
  await chat.type(CTRL_C);
  await chat.until("Cancelled\r\n");
  await chat.until("> ");
  await chat.type("hang\r");
  await model.request(1);
  await chat.type(CTRL_C);
  await chat.until("Cancelled\r\n");
  await chat.until("> ");
  await chat.type(CTRL_C);
  await chat.until("Ctrl-C again");
  await chat.until("> ");
  await chat.type(CTRL_C);
  assertEquals(await chat.exited(), 0);
});

test("pasted lines are one prompt, and the last prompt comes back", [
  answer(text("Read.")),
  answer(text("Again.")),
], async ({ chat, model }) => {
  await chat.type("\x1b[200~first\rsecond\x1b[201~");
  await chat.until("second");
  await chat.type("\r");
  await chat.until("Read.");
  await chat.until("> ");
  await chat.type(`${UP} third\r`);
  await chat.until("Again.");
  const prompts = model.requests.map(({ body }) => {
    const messages = body["messages"] as JsonObject[];
    return messages.findLast(({ role }) => role === "user")?.["content"];
  });
  assertEquals(prompts, ["first\nsecond", "first\nsecond third"]);
});

test("options, another session and the one before", [
  answer(text("The first answer.")),
], async ({ chat }) => {
  await chat.type("hello\r");
  await chat.until("The first answer.");
  await chat.until("> ");
  await chat.type("/sessions\r");
  await chat.until("* ");
  const id = /\* ([0-9a-f-]{36})/.exec(chat.shown)?.[1] ?? "";
  await chat.until("> ");
  await chat.type("/permission full\r");
  await chat.until(": danger-full-access");
  await chat.type("/new\r");
  await chat.until("New session ");
  await chat.until("> ");
  await chat.type("/permission\r");
  await chat.until("* workspace-write");
  await chat.until("> ");
  await chat.type(`/load ${id.slice(0, 13)}\r`);
  await chat.until("> \x1b[1mhello");
  await chat.until("The first answer.");
});

const ENDS: readonly (readonly [string, (desk: Desk) => Promise<unknown>, number | undefined])[] = [
  ["two Ctrl-C", ({ chat }) => chat.type(CTRL_C + CTRL_C), 130],
  ["SIGTERM", ({ mark }) => signal(mark, "SIGTERM"), 143],
  ["SIGHUP", ({ mark }) => signal(mark, "SIGHUP"), 129],
  ["SIGKILL", ({ mark }) => signal(mark, "SIGKILL"), 137],
  ["the terminal's end", ({ chat }) => chat[Symbol.asyncDispose](), undefined],
];

/** Signals the chat, or its agent. */
async function signal(mark: string, name: Deno.Signal, whom = "chat"): Promise<void> {
  for (const pid of await processesWith(mark)) {
    const words = (await Deno.readTextFile(`/proc/${pid}/cmdline`)).split("\0");
    // Those that made the terminal have the whole command line in one word.
    if (!words.includes(mark)) continue;
    if (words.includes("chat") === (whom === "chat")) Deno.kill(pid, name);
  }
}

for (const [name, end, code] of ENDS) {
  const sleep = `86${Math.floor(Math.random() * 1e9)}.5`;
  test(`${name} in mid-command leaves no process`, [
    bash("b", `echo started; sleep ${sleep}`),
  ], async (opened) => {
    const { chat, mark } = opened;
    await chat.type("wait\r");
    await chat.until("│ started");
    await end(opened);
    const got = await chat.exited();
    if (code !== undefined) assertEquals(got, code);
    assertEquals(await processesLeft(mark), []);
    assertEquals(await processesLeft(sleep), []);
  });
}

test("an agent that dies is named, and ends the chat", [
  answer(text("Here."), wait(new Promise(() => {}))),
], async ({ chat, mark }) => {
  await chat.type("hello\r");
  await chat.until("Here.");
  await signal(mark, "SIGKILL", "agent");
  await chat.until("the agent has ended (SIGKILL)");
  assertEquals(await chat.exited(), 1);
});

Deno.test({
  name: "chat on a terminal: it leaves the terminal as it was",
  ignore: !hasTerminal,
  fn: async () => {
    for (const end of [CTRL_D, "/quit\r", "SIGTERM"] as const) {
      await using opened = await desk([], { then: "stty -a" });
      if (end === "SIGTERM") await signal(opened.mark, end);
      else await opened.chat.type(end);
      await opened.chat.exited();
      const modes = opened.chat.shown.slice(opened.chat.shown.lastIndexOf("speed "));
      assertMatch(modes, / icanon/);
      assertMatch(modes, / echo /);
    }
  },
});
