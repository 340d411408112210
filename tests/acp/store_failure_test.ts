import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { AcpClient } from "../helpers/acp_client.ts";
import { historyProblems } from "../helpers/history_rules.ts";
import { runCommand } from "../helpers/run_command.ts";
import { smallDisk } from "../helpers/small_disk.ts";
import { type AgentWorld, startAgent } from "../helpers/start_agent.ts";
import { storeFixture } from "../helpers/store_fixture.ts";
import { readLog } from "../helpers/stored_log.ts";

const PROBE = await smallDisk(64);
const NO_DISK = typeof PROBE === "string" ? PROBE : undefined;
if (typeof PROBE !== "string") await PROBE[Symbol.asyncDispose]();
/** In the name of a test that cannot run here: why. */
const SKIPPED = NO_DISK === undefined ? "" : ` (skipped: ${NO_DISK})`;

/** The message of a request that must fail: one line, and no stack. */
async function failure(client: AcpClient, method: string, params: object): Promise<string> {
  const end = await client.request(method, params as never);
  assert(end.type === "error", `${method} did not fail`);
  assertEquals(end.error.code, -32603);
  assertEquals(end.error.message.includes("\n"), false);
  assertEquals(/\bat \S+:\d+:\d+/.test(end.error.message), false);
  return end.error.message;
}

function newSession(agent: AgentWorld) {
  return { cwd: agent.workspace, mcpServers: [] };
}

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Places that are no store: what is put there, and what the line says besides the path. */
const NO_STORES: readonly (readonly [string, (path: string) => Promise<void>, RegExp])[] = [
  ["a directory", (path) => Deno.mkdir(path), /unable to open/],
  [
    "a file of something else",
    (path) => Deno.writeTextFile(path, "notes, not a database\n".repeat(400)),
    /not a database/,
  ],
  [
    "below a file",
    (path) => Deno.writeTextFile(path.replace(/\/store$/, ""), "x"),
    /Not a directory|unable to open/,
  ],
];

for (const [name, make, reason] of NO_STORES) {
  Deno.test(`a store that is ${name} is one clear line, and stays as it is`, async () => {
    await inFolder(async (folder) => {
      const path = name === "below a file" ? `${folder}/place/store` : `${folder}/store`;
      await make(path);
      const before = await snapshot(folder);
      await using agent = await startAgent({ env: { DSH_KV: path } });
      const message = await failure(agent.client, "session/new", newSession(agent));
      assertStringIncludes(message, path);
      assertMatch(message, reason);
      // The server goes on: the next try says the same.
      assertEquals(await failure(agent.client, "session/new", newSession(agent)), message);
      assertEquals(await agent.client.close(), { ...await agent.client.exited });
      for (const args of [["export", crypto.randomUUID()], ["repair", crypto.randomUUID()]]) {
        const { code, text, stderr } = await runCommand(args, { env: agent.env });
        assertEquals([code, text, stderr.trimEnd().split("\n").length], [1, "", 1], stderr);
        assertStringIncludes(stderr, path);
        assertMatch(stderr, reason);
      }
      assertEquals(await snapshot(folder), before);
    });
  });
}

/** The files of a folder with their bytes. */
async function snapshot(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isFile } of Deno.readDir(folder)) {
    found[name] = isFile ? await Deno.readTextFile(`${folder}/${name}`) : "folder";
  }
  return found;
}

Deno.test("a file that was cut off is one clear line, and stays as it is", async () => {
  await using agent = await startAgent();
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "!head -c 40000 /dev/zero | tr '\\0' x");
  await agent.client.close();
  const { size } = await Deno.stat(agent.kv);
  await Deno.truncate(agent.kv, Math.floor(size / 2));
  const before = await Deno.readFile(agent.kv);
  const client = await agent.spawn();
  const params = { sessionId, cwd: agent.workspace, mcpServers: [] };
  const message = await failure(client, "session/load", params);
  assertStringIncludes(message, agent.kv);
  assertMatch(message, /malformed/);
  await client.close();
  for (const args of [["export", sessionId], ["repair", sessionId, "--write"]]) {
    const { code, stderr } = await runCommand(args, { env: agent.env });
    assertEquals([code, stderr.trimEnd().split("\n").length], [1, 1], stderr);
    assertMatch(stderr, /malformed/);
  }
  assertEquals(await Deno.readFile(agent.kv), before);
});

Deno.test("a session of a newer schema is refused, and stays as it is", async () => {
  await using agent = await startAgent();
  const sessionId = await storeFixture(
    agent.kv,
    "session_v0.jsonl",
    (line) => line.replace('"v":0', '"v":2'),
    agent.workspace,
  );
  const params = { sessionId, cwd: agent.workspace, mcpServers: [] };
  const message = await failure(agent.client, "session/load", params);
  for (const part of ["newer dsh-acp", "schema 2", "Update dsh-acp"]) {
    assertStringIncludes(message, part);
  }
  assertEquals(message.includes("repair"), false);
  // Others are none the worse.
  await agent.newSession();
  await agent.client.close();
  for (const args of [["repair", sessionId], ["repair", sessionId, "--write"]]) {
    const { code, stderr } = await runCommand(args, { env: agent.env });
    assertEquals(code, 1);
    assertStringIncludes(stderr, "newer dsh-acp");
  }
  const { stderr } = await runCommand(["export", sessionId], { env: agent.env });
  assertStringIncludes(stderr, "schema 2");
});

Deno.test({
  name: `a full disk ends the turn with one clear line, and loses nothing${SKIPPED}`,
  ignore: NO_DISK !== undefined,
  fn: async () => {
    const disk = await smallDisk(900);
    assert(typeof disk !== "string");
    await using _disk = disk;
    const kv = `${disk.path}/s.kv`;
    await using agent = await startAgent({ env: { DSH_KV: kv } });
    const sessionId = await agent.newSession();
    let message: string | undefined;
    for (let turn = 0; turn < 40 && message === undefined; turn++) {
      const end = await agent.client.prompt(
        sessionId,
        `!head -c 60000 /dev/zero | tr '\\0' ${turn % 10}`,
      );
      if (end.type === "error") message = end.error.message;
    }
    assert(message !== undefined, "the disk was not filled");
    assertStringIncludes(message, kv);
    assertMatch(message, /disk is full/);
    assertEquals(message.includes("\n"), false);
    // There is no room for anything now: the next prompts fail as clearly.
    for (let time = 0; time < 3; time++) {
      const again = await agent.client.prompt(sessionId, "!head -c 60000 /dev/zero | tr '\\0' y");
      assert(again.type === "error");
      assertMatch(again.error.message, /disk is full/);
    }
    const shown = agent.client.updatesOf(sessionId).filter((update) =>
      update["status"] === "completed"
    );
    const before = await readRaw(kv, disk.path, sessionId);
    assert(before.length > 3);
    // With room again, the session goes on, here and in another process.
    await new Deno.Command("mount", { args: ["-o", "remount,size=20M", disk.path] }).output();
    const here = await agent.client.prompt(sessionId, "!echo here");
    assertEquals(here.type === "result" && here.result, { stopReason: "end_turn" });
    await agent.client.close();
    const client = await agent.spawn();
    await client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
    const replayed = client.updatesOf(sessionId).filter((update) =>
      update["status"] === "completed"
    );
    assert(replayed.length >= shown.length, `${replayed.length} of ${shown.length} calls`);
    const next = await client.prompt(sessionId, "!echo on");
    assertEquals(next.type === "result" && next.result, { stopReason: "end_turn" });
    const after = await readLog(kv, sessionId);
    assertEquals(after.slice(0, before.length), before);
    assertEquals(historyProblems(after), []);
  },
});

/** A copy on a disk with room: opening a store writes to it. */
async function readRaw(kv: string, folder: string, sessionId: string) {
  const copy = await Deno.makeTempDir();
  try {
    for await (const { name } of Deno.readDir(folder)) {
      await Deno.copyFile(`${folder}/${name}`, `${copy}/${name}`);
    }
    return await readLog(`${copy}/${kv.slice(folder.length + 1)}`, sessionId);
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
}

Deno.test({
  name: `a read-only disk is one clear line, and stays as it is${SKIPPED}`,
  ignore: NO_DISK !== undefined,
  fn: async () => {
    const disk = await smallDisk(4_000);
    assert(typeof disk !== "string");
    await using _disk = disk;
    const kv = `${disk.path}/s.kv`;
    await using agent = await startAgent({ env: { DSH_KV: kv } });
    const sessionId = await agent.newSession();
    await agent.client.prompt(sessionId, "!echo one");
    await agent.client.close();
    await disk.remount("ro");
    const client = await agent.spawn();
    const params = { sessionId, cwd: agent.workspace, mcpServers: [] };
    const message = await failure(client, "session/load", params);
    assertStringIncludes(message, kv);
    assertMatch(message, /readonly|read-only|unable to open/i);
    assertMatch(await failure(client, "session/new", newSession(agent)), /s\.kv/);
    await client.close();
    const { code, stderr } = await runCommand(["repair", sessionId], { env: agent.env });
    assertEquals([code, stderr.trimEnd().split("\n").length], [1, 1], stderr);
    await disk.remount("rw");
    const back = await agent.spawn();
    await back.call("session/load", params);
  },
});

Deno.test("a damaged session names the key and the repair, and repair mends it", async () => {
  await using agent = await startAgent();
  const sessionId = await storeFixture(
    agent.kv,
    "session_v0.jsonl",
    (line) => line.includes('"seq":5,') ? line.slice(0, 40) : line,
    agent.workspace,
  );
  const params = { sessionId, cwd: agent.workspace, mcpServers: [] };
  const key = JSON.stringify(["session", sessionId, "event", 5]);
  const message = await failure(agent.client, "session/load", params);
  assertStringIncludes(message, key);
  assertStringIncludes(message, `dsh-acp repair ${sessionId}`);
  assertEquals(agent.client.updatesOf(sessionId), []);

  const repair = (...more: string[]) =>
    runCommand(["repair", sessionId, ...more], { env: agent.env });
  for (let time = 0; time < 2; time++) {
    const looked = await repair();
    assertEquals([looked.code, looked.stderr], [1, ""]);
    assertStringIncludes(looked.text, key);
    assertStringIncludes(looked.text, "Nothing was written");
  }
  const mended = await repair("--write");
  assertEquals([mended.code, mended.stderr], [0, ""]);
  assertStringIncludes(mended.text, "tool/result stands in");
  const whole = await repair();
  assertEquals([whole.code, whole.stderr], [0, ""]);
  assertStringIncludes(whole.text, "Nothing is damaged");

  await agent.client.call("session/load", params);
  const card = agent.client.updatesOf(sessionId).find((update) => update["status"] === "failed");
  assertStringIncludes(JSON.stringify(card), "was lost");
  // The session is open now: nobody else may mend it.
  const busy = await repair("--write");
  assertEquals(busy.code, 1);
  assertMatch(busy.stderr, /another process has it open \(pid \d+/);
});

Deno.test("repair refuses wrong arguments and unknown sessions", async () => {
  await using agent = await startAgent();
  for (
    const [args, code, line] of [
      [["repair"], 2, "needs the id"],
      [["repair", "a", "b"], 2, '"b"'],
      [["repair", "--force"], 2, '"--force"'],
      [["repair", crypto.randomUUID()], 1, "Cannot find"],
      [["repair", "no-uuid", "--write"], 1, "Cannot find"],
    ] as const
  ) {
    const end = await runCommand(args, { env: agent.env });
    assertEquals([end.code, end.text], [code, ""], end.stderr);
    assertStringIncludes(end.stderr, line);
  }
});
