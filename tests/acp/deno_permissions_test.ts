import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { KNOWN_VARIABLES } from "../../acp/_environment.ts";
import type { JsonObject } from "../../tools/json.ts";
import { member } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { cardOf, PermissionDesk, toolResults } from "../helpers/permission_desk.ts";
import { startAgent } from "../helpers/start_agent.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const config = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));

/** A world whose program runs under these permissions; `{}` names stand for its paths. */
async function startUnder(
  flags: readonly string[],
  options: { readonly model?: ModelServer; readonly env?: Record<string, string | undefined> } = {},
) {
  const world = await startAgent(options);
  const places: Record<string, string> = {
    "{workspace}": world.workspace,
    "{home}": world.home,
    "{data}": join(world.home, "data", "dsh-acp"),
    "{kv}": world.kv,
  };
  const filled = flags.map((flag) => flag.replaceAll(/\{\w+\}/g, (name) => places[name] ?? name));
  const client = await world.spawn({ command: command(filled) });
  return { world, client, command: (args: readonly string[]) => command(filled, args) };
}

function command(flags: readonly string[], args: readonly string[] = []): string[] {
  return [Deno.execPath(), "run", "--no-lock", ...flags, join(ROOT, "mod.ts"), ...args];
}

const NET = "--allow-net=127.0.0.1";
/** The default set with the places and the model of a test. */
const DEFAULT = ["-P", NET, "--allow-write={workspace},{data},{kv}"];
const REVIEW = ["-P=review", NET, "--allow-write={data},{kv}"];

function stderrOf(world: { readonly stderr: readonly string[] }): string {
  return world.stderr.filter((line) => !line.includes("experimental feature")).join("\n");
}

function permission(response: JsonObject): JsonObject {
  return (response["configOptions"] as JsonObject[]).find(({ id }) => id === "permission")!;
}

function offered(response: JsonObject): unknown[] {
  return (permission(response)["options"] as JsonObject[]).map(({ value }) => value);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("under the default set full access is not offered, and writes elsewhere are ordinary errors", async () => {
  await using model = ModelServer.start([]);
  const { world, client } = await startUnder(DEFAULT, { model });
  await using _world = world;
  const created = await client.call("session/new", { cwd: world.workspace, mcpServers: [] });
  const sessionId = String(created["sessionId"]);
  assertEquals(offered(created), ["workspace-write"]);
  const refused = await client.request("session/set_config_option", {
    sessionId,
    configId: "permission",
    value: "danger-full-access",
  });
  assert(refused.type === "error");
  assertEquals(refused.error.code, -32602);

  const desk = new PermissionDesk(client, "allow-once");
  model.push(
    answer(
      call("in", "write", { file_path: "made", content: "x" }),
      call("out", "write", { file_path: `${world.home}/out`, content: "x" }),
      call("bash", "bash", { command: `echo y >> made; touch ${world.home}/out; cat made` }),
      call("full", "bash", {
        command: `touch ${world.home}/out`,
        sandbox_permissions: "danger-full-access",
        justification: "because",
      }),
      call("grep", "grep", { pattern: "x", path: "." }),
    ),
    answer(text("done")),
  );
  const answered = await client.prompt(sessionId, "go");
  assert(answered.type === "result", JSON.stringify(answered));
  const told = toolResults(model.requests[1]!.body);
  assertStringIncludes(told["in"]!, "Created file made");
  // What Deno does not allow, the user is not asked to allow.
  assertEquals(desk.calls, []);
  assertStringIncludes(told["out"]!, "Error: ");
  assertStringIncludes(told["out"]!, "Deno lets this program write only where --allow-write says");
  assertStringIncludes(told["bash"]!, "Read-only file system");
  assertStringIncludes(told["bash"]!, "xy\n");
  assertStringIncludes(told["full"]!, "danger-full-access is not available here");
  assertStringIncludes(told["grep"]!, "made");
  assert(!await exists(`${world.home}/out`));
  const { code } = await client.close();
  assertEquals(code, 0);
  assertEquals(stderrOf(client), "dsh-acp: commands: sandboxed by bubblewrap");
});

Deno.test("a session that had full access is fenced in by a process that was granted less", async () => {
  const { world, client } = await startUnder(DEFAULT);
  await using _world = world;
  const sessionId = await world.newSession();
  await world.client.call("session/set_config_option", {
    sessionId,
    configId: "permission",
    value: "danger-full-access",
  });
  await world.client.prompt(sessionId, `!touch ${world.home}/wide`);
  assert(await exists(`${world.home}/wide`));
  await world.client.close();
  const loaded = await client.call("session/load", {
    sessionId,
    cwd: world.workspace,
    mcpServers: [],
  });
  assertEquals(permission(loaded)["currentValue"], "custom");
  assertEquals(offered(loaded), ["workspace-write", "custom"]);
  await client.prompt(sessionId, `!touch ${world.home}/narrow`);
  assert(!await exists(`${world.home}/narrow`));
});

Deno.test("--permission-mode danger-full-access under the default set is an error that says why", async () => {
  await using world = await startAgent();
  for (
    const [args, env] of [
      [["--permission-mode", "danger-full-access"], {}],
      [[], { DSH_PERMISSION_MODE: "danger-full-access" }],
    ] as const
  ) {
    const [program, ...rest] = command(["-P"], args);
    const { code, stdout, stderr } = await new Deno.Command(program!, {
      args: rest,
      env: { ...world.env, ...env },
      clearEnv: true,
      stdin: "null",
    }).output();
    const said = new TextDecoder().decode(stderr);
    assertEquals(code, 2, said);
    assertEquals(new TextDecoder().decode(stdout), "");
    assertStringIncludes(said, "cannot be danger-full-access: Deno needs --allow-run");
    assertStringIncludes(said, "--allow-write");
  }
});

Deno.test("the review set reads, runs nothing and writes nothing", async () => {
  await using model = ModelServer.start([]);
  const { world, client } = await startUnder(REVIEW, { model });
  await using _world = world;
  await Deno.writeTextFile(world.path("a.txt"), "needle\n");
  const created = await client.call("session/new", { cwd: world.workspace, mcpServers: [] });
  const sessionId = String(created["sessionId"]);
  assertEquals(permission(created)["currentValue"], "custom");
  assertStringIncludes(JSON.stringify(permission(created)), "read-only");
  const desk = new PermissionDesk(client, "allow-once");
  model.push(
    answer(
      call("read", "read", { file_path: "a.txt" }),
      call("grep", "grep", { pattern: "needle" }),
      call("write", "write", { file_path: "b.txt", content: "x" }),
      call("bash", "bash", { command: "touch c.txt" }),
    ),
    answer(text("done")),
  );
  const answered = await client.prompt(sessionId, "go");
  assert(answered.type === "result", JSON.stringify(answered));
  const tools = (model.requests[0]!.body["tools"] as JsonObject[])
    .map((tool) => member(tool, "function")["name"]);
  assertEquals(tools, ["read", "write", "edit", "glob", "grep", "todo_write"]);
  const told = toolResults(model.requests[1]!.body);
  assertStringIncludes(told["read"]!, "needle");
  assertStringIncludes(told["grep"]!, "a.txt");
  assertStringIncludes(told["write"]!, `"read-only" allows no writes at all`);
  assertStringIncludes(told["bash"]!, `There is no tool "bash"`);
  assertEquals(desk.calls, []);
  assertEquals([...Deno.readDirSync(world.workspace)].map(({ name }) => name), ["a.txt"]);
  const own = await client.prompt(sessionId, "!echo hi");
  assert(own.type === "error");
  assertStringIncludes(own.error.message, "without a bash tool");
  assertStringIncludes(stderrOf(client), "commands: none");
  assertStringIncludes(stderrOf(client), "--allow-run=bwrap");
  assertStringIncludes(stderrOf(client), `"${world.workspace}" is read-only`);
});

Deno.test("a workspace that Deno may not write to is read-only for commands as well", async () => {
  const flags = ["-P", "--allow-write={data},{kv}"];
  const { world, client } = await startUnder(flags);
  await using _world = world;
  const sessionId = await client.newSession(world.workspace);
  await client.prompt(sessionId, "!touch made; echo ran");
  assertStringIncludes(JSON.stringify(cardOf(client, "user-command-1")), "Read-only file system");
  assert(!await exists(world.path("made")));
  assertStringIncludes(stderrOf(client), "is read-only: add it to --allow-write");
});

Deno.test("without a place for the log the error names the path and the flag", async () => {
  for (const [kv, named] of [["{kv}", "{kv}"], [undefined, "{data}"]] as const) {
    const env = kv === undefined ? { DSH_KV: undefined } : {};
    const { world, client } = await startUnder(["-P", "--allow-write={workspace}"], { env });
    await using _world = world;
    const path = named === "{kv}" ? world.kv : join(world.home, "data", "dsh-acp");
    const answered = await client.request("session/new", { cwd: world.workspace, mcpServers: [] });
    assert(answered.type === "error");
    assertEquals(answered.error.code, -32603);
    assertStringIncludes(answered.error.message, `Cannot keep sessions in "${path}"`);
    assertStringIncludes(answered.error.message, `add ${path} to --allow-write`);
    assertStringIncludes(stderrOf(client), `add ${path} to --allow-write`);
    assertEquals(stderrOf(client).split("\n").length, 1);
    assertEquals((await client.close()).code, 0);
  }
});

Deno.test("without a data folder, but with a place for the log, sessions run", async () => {
  const { world, client } = await startUnder(["-P", "--allow-write={workspace},{kv}"]);
  await using _world = world;
  const sessionId = await client.newSession(world.workspace);
  await client.prompt(sessionId, "!echo ran > made");
  assertEquals(await Deno.readTextFile(world.path("made")), "ran\n");
  assertStringIncludes(stderrOf(client), "Cannot keep long outputs in");
});

Deno.test("a model host that Deno may not reach is an error that says so", async () => {
  await using model = ModelServer.start([]);
  const { world, client } = await startUnder(["-P", "--allow-write={workspace},{data},{kv}"], {
    model,
  });
  await using _world = world;
  const answered = await client.prompt(await client.newSession(world.workspace), "hi");
  assert(answered.type === "error");
  assertStringIncludes(answered.error.message, "--allow-net");
  assertEquals(model.requests.length, 0);
});

Deno.test("commands get the variables that are granted by name, and no secret among them", async () => {
  const env = { LANG: "C.UTF-8", TZ: "Europe/Berlin", OTHER: "x", DEEPSEEK_API_KEY: "sk-secret" };
  const { world, client } = await startUnder(DEFAULT, { env });
  await using _world = world;
  const sessionId = await client.newSession(world.workspace);
  await client.prompt(sessionId, '!echo "$LANG|$TZ|$HOME|$OTHER|$DEEPSEEK_API_KEY"');
  const card = JSON.stringify(cardOf(client, "user-command-1"));
  assertStringIncludes(card, `C.UTF-8|Europe/Berlin|${world.home}||`);
});

Deno.test("the flags of the README's profiles for JSR work without deno.json", async () => {
  const readme = await Deno.readTextFile(join(ROOT, "README.md"));
  const section = readme.split("## What Deno lets it do")[1]!.split("\n## ")[0]!;
  const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  const profiles = blocks.filter((block) => block.includes("jsr:@dsh/acp"));
  assertEquals(profiles.length, 3);
  for (const block of profiles) {
    await using world = await startAgent();
    const flags = block.replaceAll(/\\\n|"/g, " ").trim().split(/\s+/)
      .filter((word) => word.startsWith("-"))
      .map((flag) =>
        flag.replaceAll("$HOME/.local/share", `${world.home}/data`)
          .replaceAll("/path/to/workspace", world.workspace)
      )
      .map((flag) => flag.startsWith("--allow-write") ? `${flag},${world.kv}` : flag);
    const program = [
      "run",
      ...flags,
      "--no-lock",
      "--no-config",
      "--import-map",
      join(ROOT, "deno.json"),
    ];
    const client = await world.spawn({
      command: [Deno.execPath(), ...program, join(ROOT, "mod.ts")],
    });
    const created = await client.call("session/new", { cwd: world.workspace, mcpServers: [] });
    const presets = offered(created);
    const answered = await client.prompt(String(created["sessionId"]), "!touch made");
    if (flags.includes("-A")) {
      assertEquals(presets, ["workspace-write", "danger-full-access"]);
    } else if (flags.some((flag) => flag.startsWith("--allow-run"))) {
      assertEquals(presets, ["workspace-write"]);
    } else assertEquals(presets, ["custom"]);
    assertEquals(await exists(world.path("made")), answered.type === "result", block);
    assertEquals(answered.type === "error", presets[0] === "custom", block);
  }
});

Deno.test("deno.json grants by name exactly the variables the program knows", () => {
  const { env } = config.permissions.default as { env: string[] };
  const covers = (pattern: string, name: string) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  for (const name of KNOWN_VARIABLES) assert(env.some((one) => covers(one, name)), name);
  for (const one of env) assert(KNOWN_VARIABLES.some((name) => covers(one, name)), one);
  for (const one of config.permissions.review.env) assert(env.includes(one), one);
  assertEquals(config.permissions.review.run, false);
  assertEquals(config.permissions.review.write, false);
});

Deno.test({
  name: "a terminal on stderr is not asked for a permission while stdin is a pipe",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using world = await startAgent();
    const script = join(world.home, "init.sh");
    const params = { cwd: world.workspace, mcpServers: [] };
    const send = (id: number, method: string, params: unknown) =>
      `echo '${JSON.stringify({ jsonrpc: "2.0", id, method, params })}' >&3\n` +
      `while ! grep -q '"id":${id}' out; do kill -0 $pid || break; sleep 0.05; done\n`;
    const [program, ...args] = command(["--allow-read", "--allow-env"]);
    const line = [program, ...args].map((word) => `'${word}'`).join(" ");
    await Deno.writeTextFile(
      script,
      // The pipe stays open until the answers are there.
      `mkfifo in\nexec 3<>in\n: >out\n${line} <in >out & pid=$!\n` +
        send(1, "initialize", { protocolVersion: 1 }) + send(2, "session/new", params) +
        `kill $pid; wait $pid; true\n`,
    );
    const { stdout } = await new Deno.Command("script", {
      args: ["-qec", `bash ${script}`, "/dev/null"],
      cwd: world.home,
      env: { ...world.env },
      clearEnv: true,
      stdin: "null",
      stderr: "null",
    }).output();
    const seen = new TextDecoder().decode(stdout);
    assert(!/Allow\?|requests .* access/.test(seen), seen);
    const out = await Deno.readTextFile(join(world.home, "out"));
    assertStringIncludes(out, "--allow-write");
  },
});
