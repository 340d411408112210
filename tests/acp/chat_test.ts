/** `chat` without a terminal: lines of a pipe, and one prompt. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, failure, hang, text } from "../helpers/model_turn.ts";
import { processesLeft, processesWith } from "../helpers/processes.ts";
import { programCommand } from "../helpers/program.ts";
import { type CommandEnd, runCommand } from "../helpers/run_command.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

/** Runs the chat; `lines` are what it reads. */
async function chat(
  world: AgentWorld,
  lines: readonly string[],
  ...args: string[]
): Promise<CommandEnd> {
  return await runCommand(args.includes("chat") ? args : ["chat", ...args], {
    env: world.env,
    cwd: world.workspace,
    stdin: new Blob([lines.map((line) => `${line}\n`).join("")]).stream(),
  });
}

function toolNames({ body }: { readonly body: JsonObject }): string[] {
  const tools = body["tools"] as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name);
}

Deno.test("chat takes lines of a pipe as prompts, and draws cards without colours", async () => {
  await using model = ModelServer.start([
    answer(
      text("I edit."),
      call("e", "edit", { file_path: "a.txt", old_string: "b", new_string: "c" }),
    ),
    answer(text("It was not read.")),
    answer(call("r", "read", { file_path: "a.txt" })),
    answer(call("w", "write", { file_path: "n.txt", content: "new\n" })),
    answer(text("Written.\n\n")),
  ]);
  await using world = await startAgent({
    model,
    env: { NO_COLOR: undefined },
    files: { "a.txt": "a\nb\n" },
  });
  const end = await chat(world, ["edit", "", "write", "/model pro", "!printf 'x\\ny'; exit 3"]);
  assertEquals(end.code, 0, end.stderr);
  assertEquals(
    end.text,
    [
      "I edit.",
      "",
      "● Edit a.txt",
      '│ Error: Cannot edit "a.txt" as an existing file must be read first: it was not read in this session. Read it, then try again',
      "✗ failed",
      "",
      "It was not read.",
      "● Read a.txt",
      "",
      "● Write n.txt",
      "│ + new",
      "",
      "Written.",
      "Model: deepseek/deepseek-v4-pro",
      "$ printf 'x\\ny'; exit 3",
      "│ x",
      "│ y",
      "✗ exit 3",
      "",
    ].join("\n"),
  );
  assertMatch(end.stderr, /^dsh-acp: commands: .*\n$/);
  // Nobody could answer.
  assert(!toolNames(model.requests[0]!).includes("ask_user_question"));
});

Deno.test("chat answers one prompt, and --resume goes on without showing it again", async () => {
  await using model = ModelServer.start([answer(text("One.")), answer(text("Two."))]);
  await using world = await startAgent({ model });
  const first = await chat(world, [], "say", "it");
  assertEquals([first.code, first.text], [0, "One.\n"]);
  const listed = await chat(world, ["/sessions"]);
  const [id = ""] = /[0-9a-f-]{36}/.exec(listed.text) ?? [];
  assertStringIncludes(listed.text, "say it");
  const second = await chat(world, [], "--resume", id.slice(0, 8), "--", "--again");
  assertEquals([second.code, second.text], [0, "Two.\n"]);
  const messages = model.requests[1]!.body["messages"] as JsonObject[];
  assertEquals(
    messages.filter(({ role }) => role !== "system").map(({ content }) => content),
    ["say it", "One.", "--again"],
  );
});

Deno.test("chat without a person rejects what needs an approval, and says so", async () => {
  const args = {
    command: "touch ../outside",
    sandbox_permissions: "danger-full-access",
    justification: "to test",
  };
  await using model = ModelServer.start([answer(call("b", "bash", args)), answer(text("Well."))]);
  await using world = await startAgent({ model });
  const end = await chat(world, [], "do it");
  assertEquals(end.code, 0);
  assertStringIncludes(end.text, "│ Needs your approval: ");
  assertStringIncludes(end.text, "Rejected: nobody is here to be asked\n");
  assertEquals(await Deno.stat(world.path("../outside")).catch(() => "missing"), "missing");
});

Deno.test("chat writes no control character that the model or a command made up", async () => {
  const evil = "a\x1b]0;title\x07b\x1b[2Jc\x9b31md\u202ee\rf\bg\x1b[31mh";
  await using model = ModelServer.start([
    answer(
      text("\x1b"),
      text("]52;c;x\x07"),
      text(evil),
      call("b", "bash", {
        command: `printf '${evil.replaceAll("%", "%%")}'`,
        description: evil,
      }),
    ),
    answer(text("Over.")),
  ]);
  await using world = await startAgent({ model });
  const end = await chat(world, ["go on", `/load ${evil}`]);
  assertStringIncludes(end.text, "bcd\\u202ee");
  assertStringIncludes(end.text, "Over.");
  // deno-lint-ignore no-control-regex -- it is what is looked for
  assertEquals(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/.exec(end.text + end.stderr), null);
});

Deno.test("chat passes the program's options on to the agent", async () => {
  await using world = await startAgent();
  const end = await chat(world, ["/permission"], "--permission-mode=danger-full-access", "chat");
  assertStringIncludes(end.text, "* danger-full-access");
});

Deno.test("chat ends with a code that says how it went", async () => {
  await using model = ModelServer.start([
    failure(400, { message: "No such thing" }),
    answer(text("Never asked.")),
  ]);
  await using world = await startAgent({ model });
  const cases: readonly (readonly [readonly string[], readonly string[], number, RegExp])[] = [
    [["one", "two"], [], 1, /No such thing/],
    [["/model nothing", "two"], [], 1, /\/model must be one of .*; got "nothing"/],
    [["/load"], [], 1, /\/load needs the id of a session/],
    [["/help", "/quit", "two"], [], 0, /\/sessions/],
    [[], ["--resume", "nothing", "two"], 1, /No session has an id that starts with "nothing"/],
    [[], ["--resume", crypto.randomUUID(), "two"], 1, /sessionId/],
    [[], ["--resume"], 2, /--resume needs the id of a session/],
    [[], ["--yes", "two"], 2, /chat takes --resume ID and a prompt; got "--yes"/],
    [[], [" "], 2, /the prompt must not be empty/],
  ];
  for (const [lines, args, code, said] of cases) {
    const end = await chat(world, lines, ...args);
    assertEquals(end.code, code, JSON.stringify([lines, args, end.text, end.stderr]));
    assertMatch(end.text + end.stderr, said);
  }
  assertEquals(model.left, 1);
});

Deno.test("what follows -- is the prompt, even where it looks like an option", async () => {
  await using model = ModelServer.start([answer(text("Of course."))]);
  await using world = await startAgent({ model });
  const end = await chat(world, [], "chat", "--", "--help", "--model");
  assertEquals([end.code, end.text], [0, "Of course.\n"], end.stderr);
  assertStringIncludes(JSON.stringify((await model.request(0)).body), "--help --model");
});

Deno.test("chat names an agent that ends by itself", async () => {
  await using world = await startAgent({ env: { DSH_MODELS: "no slash" }, initialize: false });
  const end = await chat(world, ["hello"]);
  assertEquals([end.code, end.text], [1, ""]);
  const lines = end.stderr.trimEnd().split("\n");
  assertStringIncludes(lines[0]!, "DSH_MODELS");
  assertEquals(lines.at(-1), "dsh-acp: the agent has ended (exit code 2)");
});

Deno.test("chat starts no agent that may do more than itself", async () => {
  await using world = await startAgent();
  const [deno = "", , , main = ""] = programCommand();
  for (const grants of [["--allow-env", "--allow-read"], ["-A", "--deny-write=/etc"]]) {
    const end = await runCommand(["chat", "hello"], {
      env: world.env,
      cwd: world.workspace,
      command: [deno, "run", "--no-prompt", ...grants, main],
    });
    assertEquals(end.code, 2, end.stderr);
    assertStringIncludes(end.stderr, "needs them: deno run -A");
  }
});

const SIGNALS = [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129], ["SIGKILL", 137]] as const;

for (const [signal, code] of SIGNALS) {
  Deno.test({
    name: `chat that gets ${signal} in mid-command leaves no process`,
    ignore: Deno.build.os !== "linux",
    fn: () => endInMidCommand((child) => child.kill(signal), code),
  });
}

Deno.test({
  name: "chat whose reader goes away in mid-command leaves no process",
  ignore: Deno.build.os !== "linux",
  fn: () => endInMidCommand((_child, cancel) => cancel(), 1),
});

async function endInMidCommand(
  end: (child: Deno.ChildProcess, cancel: () => Promise<void>) => unknown,
  code: number,
): Promise<void> {
  const sleep = `87${Math.floor(Math.random() * 1e9)}.5`;
  const command = `echo started; until [ -e go ]; do sleep 0.02; done; echo more; sleep ${sleep}`;
  await using model = ModelServer.start([answer(call("b", "bash", { command })), hang()]);
  await using world = await startAgent({ model });
  const mark = `--kv=${world.kv}`;
  const [program = "", ...args] = [...programCommand(), mark, "chat", "go on"];
  const child = new Deno.Command(program, {
    args,
    env: { ...world.env },
    clearEnv: true,
    cwd: world.workspace,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let shown = "";
  while (!shown.includes("│ started")) shown += (await reader.read()).value ?? "";
  assertEquals((await processesWith(mark)).length, 2);
  await end(child, () => reader.cancel());
  // A reader that is gone is noticed at the next output.
  await Deno.writeTextFile(world.path("go"), "");
  assertEquals((await child.status).code, code);
  assertEquals(await processesLeft(mark), []);
  assertEquals(await processesLeft(sleep), []);
  await reader.cancel();
}
