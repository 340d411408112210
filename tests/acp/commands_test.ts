import { assert, assertEquals, assertGreater, assertLess, assertStringIncludes } from "@std/assert";
import { dirname, join } from "node:path";
import type { EventBody } from "../../session/events.ts";
import { openSessionStore } from "../../session/store.ts";
import { KvConnectServer } from "../helpers/kv_connect_server.ts";
import { plainCommand } from "../helpers/plain_command.ts";
import { type CommandEnd, runCommand } from "../helpers/run_command.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";

/** A data folder without a server, and the program's commands in it. */
interface Desk extends AsyncDisposable {
  readonly folder: string;
  readonly kv: string;
  readonly env: Readonly<Record<string, string>>;
  run(...args: string[]): Promise<CommandEnd>;
  pipe(input: string | Uint8Array, ...args: string[]): Promise<CommandEnd>;
  /** Stores a session whose last prompt was at `time`. */
  store(time: number, ...bodies: EventBody[]): Promise<string>;
}

async function desk(): Promise<Desk> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "dsh-acp-test-" }));
  const kv = join(folder, "data", "dsh-acp", "sessions.kv");
  const env = {
    ...Deno.env.toObject(),
    HOME: folder,
    XDG_DATA_HOME: join(folder, "data"),
    DENO_DIR: await denoDir(),
  };
  const run = (args: string[], stdin?: ReadableStream<Uint8Array>) =>
    runCommand(args, { env, cwd: folder, ...stdin && { stdin } });
  return {
    folder,
    kv,
    env,
    run: (...args) => run(args),
    pipe: (input, ...args) => run(args, new Blob([input as BlobPart]).stream()),
    async store(time, ...bodies) {
      await Deno.mkdir(dirname(kv), { recursive: true });
      await using store = await openSessionStore({ path: kv, now: () => time });
      const log = await store.create({ cwd: folder });
      await log.append({ type: "turn/start", data: { turn: 1, trigger: "prompt" } });
      for (const body of bodies) await log.append(body);
      await log.append({ type: "turn/end", data: { turn: 1, reason: { type: "completed" } } });
      return log.header.id;
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-config"],
  }).output();
  return String(JSON.parse(new TextDecoder().decode(stdout)).denoDir);
}

function say(text: string): EventBody {
  return { type: "user/message", data: { content: [{ type: "text", text }] } };
}

/** Exactly one line for a person, on stderr. */
function oneLine(end: CommandEnd, ...parts: string[]): void {
  assertEquals(end.stderr.split("\n").length, 2, end.stderr);
  assert(end.stderr.startsWith("dsh-acp: "), end.stderr);
  for (const part of parts) assertStringIncludes(end.stderr, part);
}

async function command(agent: AgentWorld, ...args: string[]): Promise<CommandEnd> {
  return await runCommand(args, { env: agent.env, cwd: agent.workspace });
}

const BIG = btoa("\x00\xff\x7f".repeat(1_250_000));

Deno.test("export, import and export again give the same bytes, and the session works", async () => {
  await using from = await startAgent();
  const sessionId = await from.newSession();
  await from.client.prompt(sessionId, "!seq 20000; printf '\\033[1m终\\xff\\n'");
  await from.client.prompt(sessionId, "Nobody answers \u2028 \ud83d\ude00");
  await from.client.close();
  {
    await using store = await openSessionStore({ path: from.kv, now: Date.now });
    const log = await store.open(sessionId);
    await log?.append(
      { type: "turn/start", data: { turn: 3, trigger: "prompt" } },
      say(BIG),
      say("x".repeat(64_000)),
      { type: "session/title", data: { title: "Renamed" } },
      { type: "turn/end", data: { turn: 3, reason: { type: "completed" } } },
    );
  }
  const first = await command(from, "export", sessionId);
  assertEquals([first.code, first.stderr], [0, ""]);
  const lines = first.text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines[0].id, sessionId);
  assertEquals(lines.slice(1).map(({ seq }) => seq), lines.slice(1).map((_, index) => index));
  assertGreater(first.stdout.length, 5_000_000);

  await using to = await startAgent();
  const file = to.path("session.jsonl");
  await Deno.writeFile(file, first.stdout);
  const imported = await command(to, "import", file);
  assertEquals([imported.code, imported.stderr], [0, ""]);
  assertStringIncludes(imported.text, `Imported the session ${sessionId}`);
  const second = await command(to, "export", sessionId);
  // Not assertEquals: its message would hold all of it.
  assert(second.code === 0 && second.text === first.text, "the second export differs");

  const { sessions } = await to.client.call("session/list", {}) as {
    sessions: { title: string }[];
  };
  assertEquals(sessions.map(({ title }) => title), ["Renamed"]);
  // Its working directory is that of the other world, which is still there.
  const params = { sessionId, cwd: from.workspace, mcpServers: [] };
  await to.client.call("session/load", params);
  const replayed = to.client.updatesOf(sessionId);
  await from.spawn().then((other) =>
    other.call("session/load", params).then(() => {
      assertEquals(other.updatesOf(sessionId), replayed);
    })
  );
  assertEquals((await to.client.prompt(sessionId, "!echo still here")).type, "result");
});

Deno.test("import reads stdin, and refuses a session that is there", async () => {
  await using from = await desk();
  await using to = await desk();
  const id = await from.store(5_000, say("hello"), say(BIG));
  const exported = await from.run("export", id);
  const imported = await to.pipe(exported.stdout, "import", "-");
  assertEquals([imported.code, imported.stderr], [0, ""]);
  const again = await to.run("export", id);
  assert(again.text === exported.text);
  const refused = await to.pipe(exported.stdout, "import", "-");
  assertEquals(refused.code, 1);
  oneLine(refused, id, "there is one of this id");
  assert((await to.run("export", id)).text === exported.text);
  // What stdin was kept in is gone.
  const left = await Array.fromAsync(Deno.readDir(dirname(to.kv)));
  assertEquals(left.map(({ name }) => name), ["sessions.kv"]);
});

Deno.test("import of what is no session names the line and writes nothing", async () => {
  await using at = await desk();
  const id = await at.store(5_000, say("a"), say("b"));
  const good = (await at.run("export", id)).text;
  await using to = await desk();
  const [header = "", ...events] = good.trimEnd().split("\n");
  const file = (...lines: string[]) => lines.join("\n");
  const cases: readonly (readonly [string, string | Uint8Array, string])[] = [
    ["nothing", "", "line 1"],
    ["no JSON", "hello\n", "line 1"],
    ["JSON of something else", '{"a":1}\n', "line 1"],
    ["events without a header", file(...events), "line 1"],
    ["a newer header", file(header.replace('"version":1', '"version":99'), ...events), "newer"],
    ["no id", file(header.replace(id, "7"), ...events), "line 1"],
    ["a gap", file(header, events[0]!, ...events.slice(2)), "line 3"],
    ["an event twice", file(header, events[0]!, events[0]!), "line 3"],
    ["another order", file(header, events[1]!, events[0]!), "line 2"],
    ["an unknown type", file(header, events[0]!.replace("turn/start", "turn/begin")), "line 2"],
    ["wrong data", file(header, events[0]!.replace('"turn":1', '"turn":"1"')), "line 2"],
    ["a newer event", file(header, events[0]!.replace('"v":1', '"v":99')), "newer"],
    ["an empty line", file(header, "", ...events), "line 2"],
    ["a cut end", good.slice(0, -20), "line 5"],
    ["no UTF-8", Uint8Array.of(...new TextEncoder().encode(`${header}\n`), 0xff, 0xfe), "line 2"],
    ["noise", crypto.getRandomValues(new Uint8Array(60_000)), "line 1"],
  ];
  for (const [name, content, part] of cases) {
    const path = join(to.folder, "file.jsonl");
    await Deno.writeFile(
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    const end = await to.run("import", path);
    assertEquals([end.code, end.text], [1, ""], name);
    oneLine(end, part);
    const [last] = end.stderr.trimEnd().split("\n");
    assertLess(last!.length, 1_000, name);
  }
  assertEquals((await to.run("export", id)).code, 1);
  const imported = await to.pipe(good.trimEnd(), "import", "-");
  assertEquals([imported.code, imported.stderr], [0, ""], "the last line feed may be missing");
  assert((await to.run("export", id)).text === good);
});

Deno.test("import shows nothing of a file that could steer a terminal", async () => {
  await using at = await desk();
  const end = await at.pipe(`\u001b]0;title\u0007${"x".repeat(5_000)}\r\u0085`, "import", "-");
  assertEquals(end.code, 1);
  oneLine(end, "line 1");
  assertEquals(/\p{Cc}/u.test(end.stderr.trimEnd()), false);
  assertLess(end.stderr.length, 1_000);
});

Deno.test("the commands work on a remote store, which is not compacted", async () => {
  await using server = KvConnectServer.start();
  await using at = await desk();
  const id = await at.store(Date.now() - 40 * DAY, say("hello"), say("x".repeat(2_000_000)));
  const exported = await at.run("export", id);
  const remote = (...args: string[]) =>
    runCommand(["--kv", server.url, ...args], {
      env: { ...at.env, DENO_KV_ACCESS_TOKEN: server.token },
    });
  await Deno.writeFile(join(at.folder, "a.jsonl"), exported.stdout);
  const imported = await remote("import", join(at.folder, "a.jsonl"));
  assertEquals([imported.code, imported.stderr], [0, ""]);
  assert((await remote("export", id)).text === exported.text);
  const pruned = await remote("prune", "--older-than", "30");
  assertEquals([pruned.code, pruned.text, pruned.stderr], [0, "Deleted 1 session\n", ""]);
  assertEquals((await remote("export", id)).code, 1);
  assertEquals(await storedIds(at), [id]);
});

Deno.test("a session is imported again after it was deleted", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "!echo hello");
  // While the session is open, and in use.
  const exported = await command(agent, "export", sessionId);
  assertEquals(exported.code, 0);
  await agent.client.call("session/delete", { sessionId });
  await Deno.writeFile(agent.path("a.jsonl"), exported.stdout);
  assertEquals((await command(agent, "import", agent.path("a.jsonl"))).code, 0);
  assert((await command(agent, "export", sessionId)).text === exported.text);
  await agent.client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
});

Deno.test("export and import say in one line what they cannot do", async () => {
  await using at = await desk();
  const unknown = crypto.randomUUID();
  const cases: readonly (readonly [number, string, ...string[]])[] = [
    [2, "one argument", "export"],
    [2, "one argument", "export", unknown, unknown],
    [1, `there is none of this id`, "export", unknown],
    [1, "there is none of this id", "export", "../.."],
    [2, "one argument", "import"],
    [1, "missing.jsonl", "import", "missing.jsonl"],
    [1, ".", "import", "."],
  ];
  for (const [code, part, ...args] of cases) {
    const end = await at.run(...args);
    assertEquals([end.code, end.text], [code, ""], args.join(" "));
    oneLine(end, part);
  }
});

Deno.test("export of a damaged session fails and names the key", async () => {
  await using at = await desk();
  const id = await at.store(5_000, say("a"), say("b"));
  const kv = await Deno.openKv(at.kv);
  await kv.delete(["session", id, "event", 2]);
  kv.close();
  const end = await at.run("export", id);
  assertEquals(end.code, 1);
  oneLine(end, `["session","${id}","event",2]`, "missing");
});

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function storedIds(at: Desk): Promise<string[]> {
  await using store = await openSessionStore({ path: at.kv, now: Date.now });
  return (await Array.fromAsync(store.list())).map(({ id }) => id);
}

Deno.test("prune deletes what was last prompted before the age, and nothing else", async () => {
  await using at = await desk();
  const now = Date.now();
  const ages = [0, 11.9 * HOUR, 12.1 * HOUR, 1.9 * DAY, 2.1 * DAY, 29.9 * DAY, 30.1 * DAY];
  const ids: string[] = [];
  for (const age of ages) ids.push(await at.store(now - age));
  const expected = [["--older-than", "30"], ["--older-than=2d"], ["--older-than", "12h"]];
  for (const [index, left] of [6, 4, 2].entries()) {
    const end = await at.run("prune", ...expected[index]!);
    assertEquals([end.code, end.stderr], [0, ""]);
    assertEquals(end.text.split("\n").length, 2, end.text);
    assert(end.text.startsWith(`Deleted ${index === 0 ? "1 session;" : "2 sessions;"}`), end.text);
    assertEquals(await storedIds(at), ids.slice(0, left));
  }
  const none = await at.run("prune", "--older-than", "12h");
  assert(none.text.startsWith("Deleted 0 sessions;"), none.text);
});

Deno.test("prune takes sessions that were never prompted by their creation", async () => {
  await using at = await desk();
  await at.store(Date.now());
  {
    let time = Date.now() - 3 * DAY;
    await using store = await openSessionStore({ path: at.kv, now: () => time });
    await store.create({ cwd: "/" });
    time = Date.now();
    await store.create({ cwd: "/" });
  }
  const end = await at.run("prune", "--older-than", "2d");
  assert(end.text.startsWith("Deleted 1 session;"), end.text);
});

Deno.test("prune goes by the last prompt, not by the creation", async () => {
  await using at = await desk();
  const id = await at.store(Date.now() - 40 * DAY);
  {
    await using store = await openSessionStore({ path: at.kv, now: Date.now });
    await (await store.open(id))?.append({
      type: "turn/start",
      data: { turn: 2, trigger: "prompt" },
    });
  }
  await at.run("prune", "--older-than", "30");
  assertEquals(await storedIds(at), [id]);
});

Deno.test("prune shrinks the file, which both implementations of KV still read", async () => {
  await using at = await desk();
  const old = await at.store(Date.now() - 40 * DAY, ...Array<EventBody>(6).fill(say(BIG)));
  const kept = await at.store(Date.now() - DAY, say(BIG), say("x".repeat(70_000)));
  const exported = await at.run("export", kept);
  const before = (await Deno.stat(at.kv)).size;
  assertGreater(before, 35_000_000);
  const end = await at.run("prune", "--older-than", "30d");
  assertEquals([end.code, end.stderr], [0, ""]);
  const after = (await Deno.stat(at.kv)).size;
  assertLess(after, 8_000_000);
  assertStringIncludes(
    end.text,
    `Deleted 1 session; the store takes ${after.toLocaleString("en")}`,
  );
  assertEquals((await at.run("export", old)).code, 1);
  assert((await at.run("export", kept)).text === exported.text);
  const plain = await runCommand(["--kv", at.kv, "export", kept], {
    env: { ...Deno.env.toObject(), HOME: at.folder },
    command: await plainCommand(at.folder),
  });
  assert(plain.code === 0 && plain.text === exported.text, plain.stderr);
  // What is stored still has its versionstamps: a writer goes on where it was.
  await using store = await openSessionStore({ path: at.kv, now: Date.now });
  const log = await store.open(kept);
  await log?.append({ type: "turn/start", data: { turn: 2, trigger: "prompt" } });
});

Deno.test("prune keeps what is open, and the file's size while another process has it", async () => {
  await using agent = await startAgent();
  const { client } = agent;
  const open = await agent.newSession();
  const closed = await agent.newSession();
  for (const sessionId of [open, closed]) await client.prompt(sessionId, "!echo hello");
  await client.call("session/close", { sessionId: closed });
  const end = await command(agent, "prune", "--older-than", "0");
  assertEquals([end.code, end.stderr], [0, ""]);
  assertStringIncludes(end.text, "Deleted 1 session, kept 1 in use; the store still takes");
  assertStringIncludes(end.text, "another process has it open");
  assertEquals((await client.prompt(open, "!echo still here")).type, "result");
  await client.close();
  const next = await command(agent, "prune", "--older-than", "0");
  assertEquals([next.code, next.stderr], [0, ""]);
  assert(
    /^Deleted 1 session; the store takes [\d,]+ bytes, before [\d,]+ bytes\n$/.test(next.text),
  );
});

Deno.test("prune removes the files of the sessions it deletes", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  const kept = await agent.newSession();
  for (const id of [sessionId, kept]) await agent.client.prompt(id, "!seq 400000");
  agent.client.kill("SIGKILL");
  await agent.client.exited;
  const second = await agent.spawn();
  await second.call("session/load", { sessionId: kept, cwd: agent.workspace, mcpServers: [] });
  const end = await command(agent, "prune", "--older-than", "0");
  assertStringIncludes(end.text, "Deleted 1 session, kept 1 in use");
  const folders = await Array.fromAsync(Deno.readDir(`${agent.env["XDG_DATA_HOME"]}/dsh-acp`));
  const names = folders.filter(({ isDirectory }) => isDirectory).map(({ name }) => name)
    .filter((name) => name !== "credentials");
  assertEquals(names.map((name) => name.slice(0, 17)), [`dsh-${kept.slice(0, 13)}`]);
});

Deno.test("prune refuses an age that is none", async () => {
  await using at = await desk();
  const id = await at.store(5_000);
  const cases = [[], ["30"], ["--older-than"], ["--older-than", "30x"], ["--older-than", "-1"]];
  cases.push(["--older-than", "1.5"], ["--older-than=d"], ["--older-than", "1", "2"], ["--all"]);
  for (const args of cases) {
    const end = await at.run("prune", ...args);
    assertEquals([end.code, end.text], [2, ""], args.join(" "));
    oneLine(end, "--older-than");
  }
  assertEquals(await storedIds(at), [id]);
});
