import { assert, assertEquals, assertRejects } from "@std/assert";
import type { EventBody } from "../../session/events.ts";
import type { SessionLog } from "../../session/log.ts";
import { LogConflictError } from "../../session/log_errors.ts";
import { Secret } from "../../session/model/secret.ts";
import { openSessionStore, type SessionStore } from "../../session/store.ts";
import { StoreUnavailableError } from "../../session/store_errors.ts";
import { KvConnectServer, type KvFault } from "../helpers/kv_connect_server.ts";

function openStore(server: KvConnectServer): Promise<SessionStore> {
  const token = new Secret(server.token);
  return openSessionStore({ path: server.url, token, timeoutMs: 300, now: () => 1_000 });
}

function say(text: string): EventBody {
  return { type: "user/message", data: { content: [{ type: "text", text }] } };
}

async function texts(log: SessionLog): Promise<string[]> {
  const found: string[] = [];
  for await (const event of log.read()) {
    const [first] = event.type === "user/message" ? event.data.content : [];
    if (first?.type === "text") found.push(first.text);
  }
  return found;
}

/** The server does, or does not, the next write, and says nothing from then on. */
function dieAtNextWrite(server: KvConnectServer, last: KvFault): void {
  let dead = false;
  server.fault = ({ call }) => {
    if (dead) return { status: 503 };
    dead = call === "atomic_write";
    return dead ? last : undefined;
  };
}

const SIZES: readonly (readonly [string, string])[] = [
  ["64 KiB", "x".repeat(64 * 1024)],
  ["1 MB of Chinese", "終端卡片".repeat(83_334)],
  ["5 MB of base64", btoa("\x00\xff\x7f".repeat(1_250_000))],
];

for (const [name, text] of SIZES) {
  Deno.test(`append() to a remote store keeps an event of ${name} exactly`, async () => {
    await using server = KvConnectServer.start();
    await using store = await openSessionStore({
      path: server.url,
      token: new Secret(server.token),
      now: () => 1_000,
    });
    const log = await store.create({ cwd: "/" });
    await log.append(say("before"), say(text), say("after"));
    const again = await store.open(log.header.id);
    assert(again);
    const read = await texts(again);
    assert(read.length === 3 && read[1] === text && read[2] === "after");
  });
}

Deno.test("append() to a remote store refuses a second writer and writes nothing of it", async () => {
  await using server = KvConnectServer.start();
  await using here = await openStore(server);
  await using there = await openStore(server);
  const first = await here.create({ cwd: "/" });
  const second = await there.open(first.header.id);
  assert(second);
  await first.append(say("first"));
  await assertRejects(() => second.append(say("second")), LogConflictError);
  await first.append(say("third"));
  assertEquals(await texts(first), ["first", "third"]);
});

for (const kept of [true, false]) {
  const name = kept ? "was kept all the same" : "was not kept";
  Deno.test(`settle() finds out that an append without an answer ${name}`, async () => {
    await using server = KvConnectServer.start();
    await using store = await openStore(server);
    const log = await store.create({ cwd: "/" });
    await log.append(say("a"));
    const seen: number[] = [];
    using _seen = log.subscribe((event) => seen.push(event.seq));
    dieAtNextWrite(server, kept ? "lose" : { status: 503 });
    await assertRejects(() => log.append(say("b"), say("c")), StoreUnavailableError);
    await assertRejects(() => log.settle(), StoreUnavailableError);
    await assertRejects(() => log.append(say("never")), StoreUnavailableError);
    assertEquals([log.length, seen], [1, []]);
    server.fault = undefined;
    await log.settle();
    assertEquals([log.length, seen], kept ? [3, [1, 2]] : [1, []]);
    await log.append(say("d"));
    const expected = kept ? ["a", "b", "c", "d"] : ["a", "d"];
    assertEquals(await texts(log), expected);
    assertEquals(await texts((await store.open(log.header.id))!), expected);
  });
}

Deno.test("append() goes on after one without an answer, as large as several commits", async () => {
  await using server = KvConnectServer.start();
  await using store = await openStore(server);
  const log = await store.create({ cwd: "/" });
  const large = "z".repeat(900_000);
  let writes = 0;
  // The parts are there, the commit that makes them seen is done, its answer is lost.
  server.fault = ({ call }) => {
    if (writes > 1) return { status: 503 };
    return call === "atomic_write" && ++writes === 2 ? "lose" : undefined;
  };
  await assertRejects(() => log.append(say(large)), StoreUnavailableError);
  server.fault = undefined;
  await log.append(say("after"));
  const read = await texts(log);
  assert(read.length === 2 && read[0] === large && read[1] === "after");
});

Deno.test("settle() leaves to its new owner what somebody else wrote meanwhile", async () => {
  await using server = KvConnectServer.start();
  await using here = await openStore(server);
  const log = await here.create({ cwd: "/" });
  await log.append(say("a"));
  dieAtNextWrite(server, { status: 503 });
  await assertRejects(() => log.append(say("mine")), StoreUnavailableError);
  server.fault = undefined;
  await using there = await openStore(server);
  const other = await there.claim(log.header.id);
  assert(other);
  await other.append(say("theirs"));
  await assertRejects(() => log.append(say("again")), LogConflictError);
  assertEquals(await texts(other), ["a", "theirs"]);
});
