import { assert, assertEquals, assertRejects } from "@std/assert";
import { deleteSession } from "../../session/_delete_session.ts";
import type { EventBody } from "../../session/events.ts";
import { type Kv, openKv } from "../../session/kv.ts";
import { openSessionStore, type SessionStore } from "../../session/store.ts";
import { dyingKv } from "../helpers/dying_kv.ts";

interface Place extends AsyncDisposable {
  readonly kv: Kv;
  readonly store: SessionStore;
  readonly path: string;
}

const NOW = 1_000_000;

async function place(): Promise<Place> {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/sessions.kv`;
  const store = await openSessionStore({ path, now: () => NOW });
  const kv = await openKv(path);
  return {
    kv,
    store,
    path,
    [Symbol.asyncDispose]: async () => {
      kv.close();
      await store[Symbol.asyncDispose]();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

async function fill(store: SessionStore, events: number, size = 10): Promise<string> {
  const log = await store.create({ cwd: "/work" });
  const say: EventBody = {
    type: "user/message",
    data: { content: [{ type: "text", text: "x".repeat(size) }] },
  };
  await log.append({ type: "turn/start", data: { turn: 1, trigger: "prompt" } });
  for (let left = events - 1; left > 0; left -= 200) {
    await log.append(...Array<EventBody>(Math.min(left, 200)).fill(say));
  }
  return log.header.id;
}

async function allKeys(kv: Kv): Promise<unknown[]> {
  const found = [];
  for await (const { key } of kv.list({ prefix: [] })) found.push(key);
  return found;
}

Deno.test("delete() removes more keys than one commit takes, and nothing of another session", async () => {
  await using at = await place();
  const other = await fill(at.store, 3);
  const before = await allKeys(at.kv);
  const id = await fill(at.store, 2_500);
  const large = await fill(at.store, 3, 5_000_000);
  assert((await allKeys(at.kv)).length > 2_600);
  assertEquals(await at.store.delete(id), { type: "deleted" });
  assertEquals(await at.store.delete(large), { type: "deleted" });
  assertEquals(await allKeys(at.kv), before);
  assertEquals((await at.store.open(other))?.length, 3);
});

Deno.test("delete() is idempotent, and knows no session by what is no id", async () => {
  await using at = await place();
  const id = await fill(at.store, 3);
  assertEquals(await at.store.delete(id), { type: "deleted" });
  assertEquals(await at.store.delete(id), { type: "absent" });
  for (const text of ["", "..", "header", "x".repeat(5_000), `${id}/..`]) {
    assertEquals(await at.store.delete(text), { type: "absent" });
    assertEquals(await at.store.header(text), undefined);
  }
});

Deno.test("delete() that dies anywhere leaves a whole session or none, and a second one ends it", async () => {
  let died = 0;
  for (let commits = 0;; commits++) {
    await using at = await place();
    const id = await fill(at.store, 1_200);
    const dying = deleteSession(dyingKv(at.kv, commits), id, { now: () => NOW });
    const finished = await dying.then(() => true, () => false);
    const listed = (await Array.fromAsync(at.store.list())).length;
    if (finished) {
      assertEquals([listed, await allKeys(at.kv)], [0, []]);
      break;
    }
    died++;
    const log = await at.store.open(id);
    assertEquals(listed, commits === 0 ? 1 : 0);
    assertEquals(log?.length, commits === 0 ? 1_200 : undefined);
    assertEquals(await at.store.claim(id).then((owned) => owned?.length), log?.length);
    if (log) continue;
    assertEquals(await at.store.delete(id), { type: "deleted" });
    assertEquals(await allKeys(at.kv), []);
  }
  // The first commit hides the session; each later one deletes 500 keys.
  assertEquals(died, 4);
});

Deno.test("prune() clears away deletions that were cut off, once they are a day old", async () => {
  await using at = await place();
  const id = await fill(at.store, 600);
  await assertRejects(() => deleteSession(dyingKv(at.kv, 1), id, { now: () => NOW }));
  const pruneAt = async (now: number) => {
    await using store = await openSessionStore({ path: at.path, now: () => now });
    return await store.prune(0);
  };
  assertEquals(await pruneAt(NOW + 80_000_000), { deleted: [], live: 0, remains: 0 });
  assertEquals(await pruneAt(NOW + 90_000_000), { deleted: [], live: 0, remains: 1 });
  assertEquals(await allKeys(at.kv), []);
});

Deno.test("delete() refuses a session that somebody has open, until it is closed", async () => {
  await using at = await place();
  const id = await fill(at.store, 3);
  await using second = await openSessionStore({
    path: at.path,
    now: () => NOW,
    lease: { identity: { pid: 4711 } },
  });
  const log = await second.claim(id);
  const refused = await at.store.delete(id);
  assert(refused.type === "live" && refused.message.includes("pid 4711"), JSON.stringify(refused));
  assertEquals(await at.store.prune(NOW + 1), { deleted: [], live: 1, remains: 0 });
  assertEquals((await at.store.open(id))?.length, 3);
  await log?.[Symbol.asyncDispose]();
  assertEquals(await at.store.delete(id), { type: "deleted" });
});

Deno.test("delete() takes damaged sessions away whole", async () => {
  const damage: Record<string, (kv: Kv, id: string) => Promise<unknown>> = {
    "no header": (kv, id) => kv.atomic().delete(["session", id, "header"]).commit(),
    "a header that is none": (kv, id) => kv.atomic().set(["session", id, "header"], 7).commit(),
    "no tail": (kv, id) => kv.atomic().delete(["session", id, "tail"]).commit(),
    "neither": (kv, id) =>
      kv.atomic().delete(["session", id, "header"]).delete(["session", id, "tail"]).commit(),
    "only its place in the list": async (kv, id) => {
      for await (const { key } of kv.list({ prefix: ["session", id] })) {
        await kv.atomic().delete(key as string[]).commit();
      }
    },
  };
  for (const [name, make] of Object.entries(damage)) {
    await using at = await place();
    const id = await fill(at.store, 3);
    await make(at.kv, id);
    assertEquals(await at.store.delete(id), { type: "deleted" }, name);
    assertEquals(await allKeys(at.kv), [], name);
  }
});

Deno.test("a writer that still has a deleted session is refused, and nothing of it comes back", async () => {
  await using at = await place();
  const id = await fill(at.store, 3);
  const log = await at.store.open(id);
  assertEquals(await at.store.delete(id), { type: "deleted" });
  await assertRejects(
    () => log!.append({ type: "turn/start", data: { turn: 2, trigger: "prompt" } }),
    Error,
    "another process wrote to it",
  );
  assertEquals(await allKeys(at.kv), []);
});
