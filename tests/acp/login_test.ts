import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname, join } from "node:path";
import { withCredentials } from "../../acp/_credentials.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { toolResults } from "../helpers/permission_desk.ts";
import { programCommand } from "../helpers/program.ts";
import { type CommandEnd, runCommand } from "../helpers/run_command.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

const KEY = "sk-not-to-be-seen";

function file({ home }: AgentWorld): string {
  return join(home, "data", "dsh-acp", "credentials", "keys.json");
}

function login(world: AgentWorld, key: string, ...args: string[]): Promise<CommandEnd> {
  const stdin = new Blob([`${key}\n`]).stream();
  return runCommand(["login", ...args], { env: world.env, stdin });
}

/** `login` for the server of a test. */
function loginTo(world: AgentWorld, model: ModelServer, key = KEY): Promise<CommandEnd> {
  return login(world, key, "openai", "--base-url", model.url, "--model", "openai/scripted");
}

async function authorizations(model: ModelServer, count: number): Promise<(string | null)[]> {
  await model.request(count - 1);
  return model.requests.map(({ headers }) => headers.get("authorization"));
}

Deno.test("login stores a piped key for its owner alone and shows it to nobody", async () => {
  await using model = ModelServer.start();
  await using world = await startAgent();
  const end = await loginTo(world, model);
  assertEquals([end.code, end.text], [0, ""], end.stderr);
  assertStringIncludes(end.stderr, file(world));
  assertEquals(end.stderr.includes(KEY), false);
  if (Deno.build.os !== "windows") {
    assertEquals((await Deno.stat(file(world))).mode! & 0o777, 0o600);
  }
  assertEquals(JSON.parse(await Deno.readTextFile(file(world))), {
    version: 1,
    providers: { openai: { key: KEY, baseUrl: model.url, model: "scripted" } },
  });
  const left = await Array.fromAsync(Deno.readDir(join(file(world), "..")));
  assertEquals(left.filter(({ name }) => name.endsWith(".tmp")), []);
});

Deno.test("a running agent finds the key at its next prompt, and misses it after logout", async () => {
  await using model = ModelServer.start([answer(text("one")), answer(text("two"))]);
  await using world = await startAgent();
  const sessionId = await world.newSession();
  const prompt = { sessionId, prompt: [{ type: "text", text: "hi" }] };
  const before = await world.client.request("session/prompt", prompt);
  assert(before.type === "error");
  assertEquals(before.error.code, -32000);
  await loginTo(world, model);
  await world.client.prompt(sessionId, "hi");
  await loginTo(world, model, "sk-another");
  await world.client.prompt(sessionId, "hi");
  assertEquals(await authorizations(model, 2), [`Bearer ${KEY}`, "Bearer sk-another"]);
  const logout = await runCommand(["logout"], { env: world.env });
  assertEquals(logout.code, 0);
  assertStringIncludes(logout.stderr, `removed "${file(world)}"`);
  const after = await world.client.request("session/prompt", prompt);
  assert(after.type === "error");
  assertEquals(after.error.code, -32000);
  assertEquals((await runCommand(["logout"], { env: world.env })).code, 0);
});

Deno.test("a stored key is not in the environment of commands", async () => {
  await using model = ModelServer.start();
  await using world = await startAgent();
  await loginTo(world, model);
  await world.client.close();
  const client = await world.spawn();
  const sessionId = await client.newSession(world.workspace);
  await client.prompt(sessionId, "!env; tr '\\0' '\\n' < /proc/self/environ");
  const frames = JSON.stringify(client.frames);
  assertStringIncludes(frames, "PAGER=cat");
  assertEquals(frames.includes(KEY), false);
});

Deno.test({
  name: "a sandboxed command cannot open the file of the keys",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using model = ModelServer.start();
    await using world = await startAgent();
    await loginTo(world, model);
    const sessionId = await world.newSession();
    await world.client.prompt(sessionId, `!cat '${file(world)}'; echo "status $?"`);
    const frames = JSON.stringify(world.client.frames);
    assertStringIncludes(frames, "status 1");
    assertEquals(frames.includes(KEY), false);
  },
});

Deno.test("login in a terminal is offered to clients that have one", async () => {
  await using world = await startAgent({ initialize: false });
  const first = await world.client.initialize({ clientCapabilities: { auth: { terminal: true } } });
  assertEquals(
    (first["authMethods"] as { id: string; args?: string[] }[]).map((m) => [m.id, m.args]),
    [
      ["login", ["login"]],
      ["api-key", undefined],
    ],
  );
  const other = await world.spawn();
  const second = await other.initialize({});
  assertEquals((second["authMethods"] as { id: string }[]).map(({ id }) => id), ["api-key"]);
});

Deno.test("a garbled file is said so, is not quoted, and login replaces it", async () => {
  await using model = ModelServer.start([answer(text("one"))]);
  await using world = await startAgent();
  for (
    const garbled of [`{"key": "${KEY}`, `{"version":1,"providers":{"${KEY}":{}}}`, '{"version":9}']
  ) {
    await Deno.mkdir(join(file(world), ".."), { recursive: true });
    await Deno.writeTextFile(file(world), garbled);
    const sessionId = await world.newSession();
    const prompt = { sessionId, prompt: [{ type: "text", text: "hi" }] };
    const end = await world.client.request("session/prompt", prompt);
    assert(end.type === "error");
    assertEquals(end.error.code, -32000);
    assertStringIncludes(end.error.message, "run login again");
    assertEquals(end.error.message.includes(KEY), false);
  }
  const end = await loginTo(world, model);
  assertEquals(end.code, 0);
  await world.client.prompt(await world.newSession(), "hi");
});

Deno.test("a key that the provider refuses is not stored", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(null, { status: 401 }),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  await using world = await startAgent();
  const end = await login(world, KEY, "openai", "--base-url", url);
  assertEquals(end.code, 1);
  assertMatch(end.stderr, /refused the key \(401\); nothing is stored/);
  assertEquals(await Deno.stat(file(world)).catch(() => "missing"), "missing");
});

Deno.test("what is no provider, no address or no key is refused", async () => {
  await using world = await startAgent();
  const provider = await login(world, KEY, "mistral");
  assertEquals(provider.code, 2);
  assertStringIncludes(provider.stderr, 'one of deepseek, anthropic, openai; got "mistral"');
  const address = await login(world, KEY, "openai", "--base-url", "ftp://models");
  assertEquals(address.code, 1);
  assertStringIncludes(address.stderr, "an absolute http or https URL");
  for (const model of ["gpt", "openai/", "deepseek/x"]) {
    const named = await login(world, KEY, "openai", "--model", model);
    assertEquals(named.code, 2);
    assertStringIncludes(named.stderr, `--model must be openai/ and a name; got "${model}"`);
  }
  const key = await login(world, "two words", "openai", "--base-url", "http://127.0.0.1:9");
  assertEquals(key.code, 1);
  assertEquals(key.stderr.includes("two words"), false);
  const none = await login(world, "", "deepseek");
  assertEquals(none.code, 1);
  assertStringIncludes(none.stderr, "no key was given for DeepSeek");
  const nobody = await login(world, KEY);
  assertEquals(nobody.code, 2);
  assertStringIncludes(nobody.stderr, "usage: login");
  assertEquals(await Deno.stat(file(world)).catch(() => "missing"), "missing");
});

Deno.test("login says when there is still no model to start with", async () => {
  await using model = ModelServer.start([]);
  await using world = await startAgent();
  const unnamed = await login(world, KEY, "openai", "--base-url", model.url);
  assertEquals(unnamed.code, 0, unnamed.stderr);
  assertStringIncludes(unnamed.stderr, "no model is named yet");
  assertEquals((await loginTo(world, model)).stderr.includes("no model"), false);
});

Deno.test("the environment wins, and a stored key goes to no other address", () => {
  const stored = {
    deepseek: { key: "stored" },
    openai: { key: "stored", baseUrl: "https://one.example/v1", model: "m" },
  };
  assertEquals(withCredentials({ DEEPSEEK_API_KEY: "own" }, stored), {
    DEEPSEEK_API_KEY: "own",
    OPENAI_API_KEY: "stored",
    OPENAI_BASE_URL: "https://one.example/v1",
    DSH_MODELS: "openai/m",
  });
  const elsewhere = { OPENAI_BASE_URL: "http://localhost:11434/v1" };
  assertEquals(withCredentials(elsewhere, { openai: stored.openai }), elsewhere);
});

Deno.test({
  name: "a command that began before a login does not see what is stored, however often it is",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using model = ModelServer.start();
    await using world = await startAgent({ model });
    const sessionId = await world.newSession();
    const command = "touch began; until test -e go; do sleep 0.05; done; " +
      `cat '${file(world)}' && echo seen; ls -A '${dirname(file(world))}'; echo looked`;
    model.push(
      answer(call("task", "bash", { command, run_in_background: true })),
      answer(call("wait", "bash", { command: "until test -e began; do sleep 0.05; done" })),
      answer(text("it waits")),
    );
    await world.client.prompt(sessionId, "start");
    for (const key of [KEY, "sk-another", KEY]) {
      assertEquals((await loginTo(world, model, key)).code, 0);
    }
    await Deno.writeTextFile(world.path("go"), "");
    model.push(
      answer(call("output", "task_output", { task_id: "bash-1", wait: true })),
      answer(text("done")),
    );
    await world.client.prompt(sessionId, "look");
    const { output = "" } = toolResults(model.requests.at(-1)!.body);
    assertStringIncludes(output, "looked");
    for (const leak of ["seen", "sk-", "keys.json\n"]) {
      assert(!output.includes(leak), output);
    }
  },
});

/** Plays a person: waits for each text on a terminal, then types. Prints what the terminal shows. */
const PERSON = `
import json, os, pty, sys
steps, command = json.loads(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown = b""
def read():
    global shown
    try:
        data = os.read(fd, 4096)
    except OSError:
        data = b""
    shown += data
    return data
at = 0
for wait, keys in steps:
    while wait.encode() not in shown[at:]:
        if not read(): break
    at = len(shown)
    os.write(fd, keys.encode())
while read(): pass
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

async function person(
  world: AgentWorld,
  steps: readonly (readonly [wait: string, keys: string])[],
  args: readonly string[],
): Promise<{ code: number; shown: string }> {
  const { code, stdout } = await new Deno.Command("python3", {
    args: ["-c", PERSON, JSON.stringify(steps), ...programCommand(), ...args],
    env: world.env,
    clearEnv: true,
    stdin: "null",
    stderr: "inherit",
  }).output();
  return { code, shown: new TextDecoder().decode(stdout) };
}

Deno.test({
  name: "login on a terminal asks, and does not show the key",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using model = ModelServer.start();
    await using world = await startAgent();
    const { code, shown } = await person(world, [
      ["Provider", "openai\r"],
      ["Base URL", `${model.url}\r`],
      ["Model", "scripted\r"],
      ["Key", `x\x7f${KEY}\r`],
    ], ["login"]);
    assertEquals(code, 0, shown);
    assertEquals(shown.includes(KEY), false);
    assertStringIncludes(shown, "openai");
    const { providers } = JSON.parse(await Deno.readTextFile(file(world)));
    assertEquals(providers, { openai: { key: KEY, baseUrl: model.url, model: "scripted" } });
    const gaveUp = await person(world, [["Key", "\x03"]], ["login", "deepseek"]);
    assertEquals(gaveUp.code, 130);
    assertStringIncludes(gaveUp.shown, "cancelled; nothing is stored");
  },
});
