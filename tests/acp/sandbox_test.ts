import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { shownBy } from "../helpers/user_command.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { cardOf, DISMISSED, PermissionDesk, toolResults } from "../helpers/permission_desk.ts";
import { ordinaryUser } from "../helpers/ordinary_user.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

const LINUX = Deno.build.os === "linux";

/** Ways out that must fail: `$OUT` is outside, `$DATA` the agent's own folder, `$KV` its log. */
const ESCAPES = [
  "echo x > $OUT/file",
  "echo x > $OUT/new",
  "mkdir $OUT/folder",
  "rm $OUT/file",
  "mv $OUT/file .",
  "chmod 777 $OUT",
  "echo x > ../outside/new",
  "mkdir -p d && cd d && echo x > ../../outside/new",
  "ln -s $OUT link && echo x > link/new",
  "ln -s $OUT/file flink && echo x > flink",
  "ln -s .. up && echo x > up/outside/new",
  "ln $OUT/file hard && echo x > hard",
  "mount -o remount,rw /",
  "mount -o remount,bind,rw /",
  "mount -o remount,bind,rw $PWD/.git/hooks",
  "umount $PWD/.git/hooks",
  "mount -t tmpfs none /mnt",
  "unshare -Urm mount -o remount,bind,rw /",
  "bwrap --bind / / touch $OUT/new",
  "nsenter -t 1 -m touch $OUT/new",
  "echo x > .git/hooks/pre-commit",
  "rm -rf .git/hooks",
  "mv .git/hooks .git/old",
  "mv .git old",
  "echo x >> .git/config",
  "git config core.fsmonitor x",
  "rm .git/config",
  "echo x > $DATA/new",
  "rm -rf $DATA",
  "mv $DATA ${DATA}2",
  "echo x > $KV",
  "rm $KV",
  "rm $KV-wal",
].map((command) => `(${command}) >/dev/null 2>&1 && echo 'open: ${command}'`).join("\n");

const INSIDE = [
  "echo new > made.txt",
  "mkdir -p a/b",
  "mv made.txt a/b/made.txt",
  "cat a/b/made.txt",
  "rm -r a",
  "echo x > .git/note",
  "cat ../outside/file",
  "head -c 4 $KV",
  "test -r /etc/passwd",
  "t=$(mktemp)",
  "echo temporary > $t",
  "cat $t",
].join(" && ");

async function prepare(agent: AgentWorld): Promise<string> {
  const outside = join(agent.workspace, "..", "outside");
  await Deno.mkdir(outside);
  await Deno.writeTextFile(`${outside}/file`, "outside\n");
  await Deno.mkdir(agent.path(".git/hooks"), { recursive: true });
  await Deno.writeTextFile(agent.path(".git/config"), "[core]\n");
  const data = `${agent.home}/data/dsh-acp`;
  return `OUT=${outside} DATA=${data} KV=${agent.kv};\n`;
}

function assertUntouched(agent: AgentWorld): void {
  const outside = join(agent.workspace, "..", "outside");
  assertEquals([...Deno.readDirSync(outside)].map(({ name }) => name), ["file"]);
  assertEquals(Deno.readTextFileSync(`${outside}/file`), "outside\n");
  assertEquals([...Deno.readDirSync(agent.path(".git/hooks"))], []);
  assertEquals(Deno.readTextFileSync(agent.path(".git/config")), "[core]\n");
  assert(Deno.statSync(`${agent.home}/data/dsh-acp`).isDirectory);
}

Deno.test({
  name: "workspace-write fences in what the model and the user run, as this user",
  ignore: !LINUX,
  fn: async () => {
    await using model = ModelServer.start([]);
    await using agent = await startAgent({ model });
    const names = await prepare(agent);
    const desk = new PermissionDesk(agent.client, "reject-once");
    const sessionId = await agent.newSession();
    model.push(
      answer(
        call("out", "bash", { command: `${names}${ESCAPES}\ntrue` }),
        call("in", "bash", { command: `${names}${INSIDE}` }),
      ),
      answer(text("done")),
    );
    await agent.client.prompt(sessionId, "go");
    const told = toolResults(model.requests[1]!.body);
    assertEquals(told["out"], "(no output)");
    assertEquals(told["in"], "new\noutside\nSQLitemporary\n");
    assertEquals(desk.calls, []);
    assertUntouched(agent);
    assertEquals(await shownBy(agent.client, sessionId, `${names}${ESCAPES}\ntrue`), "");
    assertUntouched(agent);
    assertStringIncludes(agent.client.stderr.join("\n"), "commands: sandboxed by bubblewrap");
  },
});

Deno.test({
  name: "a log that is kept in the workspace is out of reach of what runs there",
  ignore: !LINUX,
  fn: async () => {
    await using model = ModelServer.start([]);
    await using agent = await startAgent({ model, env: { DSH_KV: "log/own.kv" } });
    await Deno.mkdir(agent.path("log"));
    const desk = new PermissionDesk(agent.client, "allow-once");
    const sessionId = await agent.newSession();
    assertEquals(
      await shownBy(agent.client, sessionId, "echo x > log/free; ls log | head -1"),
      "free\n",
    );
    const attempts = ["log/own.kv", "log/own.kv-wal", "log/own.kv-shm"].flatMap((path) => [
      `echo x > ${path}`,
      `rm ${path}`,
      `mv ${path} log/old`,
    ]);
    const script = [...attempts, "mv log other", "rm -rf log"]
      .map((command) => `(${command}) >/dev/null 2>&1 && echo 'open: ${command}'`).join("\n");
    assertEquals(await shownBy(agent.client, sessionId, `${script}\ntrue`), "");
    model.push(
      answer(call("w", "write", { file_path: "log/own.kv", content: "x" })),
      answer(text("done")),
    );
    await agent.client.prompt(sessionId, "go");
    assertStringIncludes(toolResults(model.requests[1]!.body)["w"]!, "Error: Cannot write");
    assertEquals(desk.calls, []);
    await agent.client.close();
    const client = await agent.spawn();
    await client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  },
});

Deno.test({
  name: "workspace-write fences in what an ordinary user's agent runs",
  ignore: !LINUX || Deno.uid() !== 0,
  fn: async () => {
    await using agent = await startAgent();
    const names = await prepare(agent);
    await using user = await ordinaryUser(65534, join(agent.workspace, ".."));
    // What root's programs report of their coverage is not theirs to add to.
    const { DENO_COVERAGE_DIR: _, ...env } = agent.env;
    const client = await agent.spawn({ command: user.command, env: { ...env, ...user.env } });
    const sessionId = await client.newSession(agent.workspace);
    assertEquals(await shownBy(client, sessionId, "id -u"), "65534\n");
    assertEquals(await shownBy(client, sessionId, `${names}${ESCAPES}\ntrue`), "");
    assertUntouched(agent);
    assertEquals(
      await shownBy(client, sessionId, `${names}${INSIDE}`),
      "new\noutside\nSQLitemporary\n",
    );
  },
});

Deno.test({
  name: "--sandbox-network=off takes the network from commands, and only from them",
  ignore: !LINUX,
  fn: async () => {
    await using model = ModelServer.start([]);
    for (const network of ["on", "off"]) {
      await using agent = await startAgent({ model, env: { DSH_SANDBOX_NETWORK: network } });
      const { port } = new URL(model.url);
      model.push(
        answer(
          call("c", "bash", { command: `exec 3<>/dev/tcp/127.0.0.1/${port} && echo connected` }),
        ),
        answer(text("done")),
      );
      const before = model.requests.length;
      await agent.client.prompt(await agent.newSession(), "go");
      const told = toolResults(model.requests[before + 1]!.body)["c"]!;
      if (network === "on") assertStringIncludes(told, "connected");
      else assertStringIncludes(told, "connect: ");
    }
  },
});

/** A PATH that leads to what commands need, without bubblewrap or with a `bwrap` of this text. */
async function pathWith(agent: AgentWorld, bwrap?: string): Promise<string> {
  const folder = join(agent.home, "bin");
  await Deno.mkdir(folder);
  for (const name of ["bash", "sh", "setsid", "touch", "cat", "sleep", "id"]) {
    const found = (Deno.env.get("PATH") ?? "").split(":").map((part) => join(part, name))
      .find((path) => {
        try {
          return Deno.statSync(path).isFile;
        } catch {
          // Not in this folder.
          return false;
        }
      });
    await Deno.symlink(found!, join(folder, name));
  }
  if (bwrap !== undefined) {
    await Deno.writeTextFile(join(folder, "bwrap"), `#!/bin/sh\n${bwrap}\n`, { mode: 0o755 });
  }
  return folder;
}

const RUNNERS: readonly (readonly [string, string | undefined, string])[] = [
  ["missing", undefined, "bubblewrap is not installed"],
  ["broken", "echo 'bwrap: no such luck' >&2; exit 1", "no such luck"],
];

for (const [name, script, reason] of RUNNERS) {
  Deno.test({
    name: `with bubblewrap ${name} nothing runs unless that very command is approved`,
    ignore: !LINUX,
    fn: async () => {
      await using model = ModelServer.start([]);
      await using agent = await startAgent({ model });
      const env = { ...agent.env, PATH: await pathWith(agent, script) };
      const client = await agent.spawn({ env });
      const sessionId = await client.newSession(agent.workspace);
      const step = (id: string) =>
        answer(call(id, "bash", { command: `touch ${agent.workspace}/${id}` }));
      const ran = (id: string) => Deno.stat(agent.path(id)).then(() => true, () => false);
      const outcome = async (id: string) => {
        const before = model.requests.length;
        model.push(step(id), answer(text(".")));
        const answered = await client.prompt(sessionId, "go");
        assert(answered.type === "result", JSON.stringify(answered));
        return toolResults(model.requests[before + 1]!.body)[id]!;
      };

      // A client that cannot be asked.
      const unanswered = await outcome("unanswered");
      assertStringIncludes(unanswered, "nobody could be asked");
      assertStringIncludes(unanswered, reason);
      assertStringIncludes(unanswered, "apt install bubblewrap");
      assert(!await ran("unanswered"));

      const desk = new PermissionDesk(client, "reject-once");
      const refused = await outcome("refused");
      assertStringIncludes(refused, "the user refused (run without a sandbox.");
      assertStringIncludes(refused, reason);
      assertStringIncludes(refused, "Nothing was run");
      assert(!await ran("refused"));
      assertEquals(Object.keys(desk.asked[0]!.options), ["allow-once", "reject-once"]);
      assertStringIncludes(desk.asked[0]!.card, "apt install bubblewrap");

      desk.decide = () => DISMISSED;
      assertStringIncludes(await outcome("dismissed"), "without an answer");
      assert(!await ran("dismissed"));

      desk.decide = () => "allow-once";
      assertStringIncludes(await outcome("approved"), "no sandbox");
      assert(await ran("approved"));
      // The next one is asked about again.
      desk.decide = () => "reject-once";
      await outcome("next");
      assert(!await ran("next"));

      const arrived = Promise.withResolvers<void>();
      desk.decide = () => {
        arrived.resolve();
        return new Promise<string>(() => {});
      };
      model.push(step("cancelled"));
      const pending = client.prompt(sessionId, "go");
      await arrived.promise;
      await client.notify("session/cancel", { sessionId });
      const cancelled = await pending;
      assert(cancelled.type === "result");
      assertEquals(cancelled.result, { stopReason: "cancelled" });
      assertStringIncludes(
        JSON.stringify(cardOf(client, "cancelled")),
        "the turn was cancelled while the user was asked",
      );
      assert(!await ran("cancelled"));

      // The user's own command needs nobody's approval.
      assertEquals(await shownBy(client, sessionId, "echo mine"), "mine\n");
      const said = client.stderr.filter((line) => line.includes("commands:"));
      assertEquals(said.length, 1);
      assertStringIncludes(said[0]!, "in a process group only, as no sandbox works");
      assertStringIncludes(said[0]!, reason);
    },
  });
}

Deno.test({
  name: "a sandbox that breaks after it was found working runs nothing",
  ignore: !LINUX,
  fn: async () => {
    await using model = ModelServer.start([]);
    await using agent = await startAgent({ model });
    const real = new Deno.Command("sh", { args: ["-c", "command -v bwrap"] }).outputSync();
    const bwrap = new TextDecoder().decode(real.stdout).trim();
    const script = `[ -e ${agent.home}/broken ] && { echo 'bwrap: out of luck' >&2; exit 1; }\n` +
      `exec ${bwrap} "$@"`;
    const env = { ...agent.env, PATH: await pathWith(agent, script) };
    const client = await agent.spawn({ env });
    const desk = new PermissionDesk(client, "allow-once");
    const sessionId = await client.newSession(agent.workspace);
    assertEquals(await shownBy(client, sessionId, "echo works"), "works\n");
    assertEquals(client.stderr, ["dsh-acp: commands: sandboxed by bubblewrap"]);
    await Deno.writeTextFile(`${agent.home}/broken`, "");
    model.push(
      answer(call("c", "bash", { command: `touch ${agent.workspace}/ran` })),
      answer(text(".")),
    );
    await client.prompt(sessionId, "go");
    const told = toolResults(model.requests[1]!.body)["c"]!;
    assertStringIncludes(told, "Error:");
    assertStringIncludes(told, "out of luck");
    assertEquals(desk.calls, []);
    assert(!await Deno.stat(agent.path("ran")).then(() => true, () => false));
  },
});
