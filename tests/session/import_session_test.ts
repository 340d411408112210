import { assert, assertEquals, assertRejects } from "@std/assert";
import { adoptSession, type StoredEvent } from "../../session/_adopt_session.ts";
import type { EventBody, SessionHeader } from "../../session/events.ts";
import { exportSession } from "../../session/export_session.ts";
import { importSession } from "../../session/import_session.ts";
import { type Kv, openKv } from "../../session/kv.ts";
import { openSessionStore, type SessionStore } from "../../session/store.ts";
import { dyingKv } from "../helpers/dying_kv.ts";

const NOW = 1_000_000;

async function exported(events: number): Promise<{ id: string; text: string }> {
  await using store = await openSessionStore({ path: ":memory:", now: () => NOW });
  const log = await store.create({ cwd: "/work" });
  const say = (text: string): EventBody => ({
    type: "user/message",
    data: { content: [{ type: "text", text }] },
  });
  await log.append({ type: "turn/start", data: { turn: 1, trigger: "prompt" } });
  for (let index = 1; index < events; index++) await log.append(say(`${index}`.repeat(30_000)));
  const stream = await exportSession(store, log.header.id);
  return { id: log.header.id, text: await new Response(stream).text() };
}

async function* parse(text: string): AsyncGenerator<StoredEvent> {
  for (const line of text.trimEnd().split("\n").slice(1)) {
    yield await Promise.resolve({
      event: JSON.parse(line),
      bytes: new TextEncoder().encode(line),
    });
  }
}

function headerOf(text: string): SessionHeader {
  return JSON.parse(text.slice(0, text.indexOf("\n")));
}

async function allKeys(kv: Kv): Promise<unknown[]> {
  const found = [];
  for await (const { key } of kv.list({ prefix: [] })) found.push(key);
  return found;
}

async function inStore(
  use: (store: SessionStore, kv: Kv, path: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/sessions.kv`;
  const store = await openSessionStore({ path, now: () => NOW });
  const kv = await openKv(path);
  try {
    await use(store, kv, path);
  } finally {
    kv.close();
    await store[Symbol.asyncDispose]();
    await Deno.remove(folder, { recursive: true });
  }
}

function file(text: string): () => ReadableStream<Uint8Array> {
  return () => new Blob([text]).stream();
}

Deno.test("an import that dies anywhere is not seen, and can be done again", async () => {
  const { id, text } = await exported(40);
  let died = 0;
  for (let commits = 0, finished = false; !finished; commits++) {
    await inStore(async (store, kv) => {
      const dying = adoptSession(dyingKv(kv, commits), headerOf(text), parse(text), NOW);
      finished = await dying.then(() => true, () => false);
      if (!finished) {
        died++;
        assertEquals(await store.header(id), undefined);
        assertEquals(await Array.fromAsync(store.list()), []);
        const again = await importSession(store, file(text));
        assertEquals(again.type, "imported");
      }
      const stream = await exportSession(store, id);
      assert(await new Response(stream).text() === text);
      assertEquals(await Array.fromAsync(store.list()), [{ listedAt: NOW, id, cwd: "/work" }]);
      await store.delete(id);
      assertEquals(await allKeys(kv), []);
    });
  }
  // The marker, at least two batches of events, and the header that makes it seen.
  assert(died >= 4, `${died}`);
});

Deno.test("an import whose file fails in the middle leaves nothing", async () => {
  const { text } = await exported(40);
  await inStore(async (store, kv) => {
    async function* broken(): AsyncGenerator<StoredEvent> {
      let left = 35;
      for await (const event of parse(text)) {
        if (left-- === 0) throw new Error("read error");
        yield event;
      }
    }
    await assertRejects(() => store.adopt(headerOf(text), broken()), Error, "read error");
    assertEquals(await allKeys(kv), []);
  });
});

Deno.test("an import whose file changes between its two readings leaves nothing", async () => {
  const first = await exported(30);
  const second = await exported(30);
  for (const other of [second.text, "", first.text.slice(0, -5)]) {
    await inStore(async (store, kv) => {
      const texts = [first.text, other];
      const result = await importSession(store, () => file(texts.shift()!)());
      assertEquals(result.type, "invalid");
      assertEquals(await allKeys(kv), []);
    });
  }
});

Deno.test("an import that another process deletes meanwhile fails, and nothing comes back", async () => {
  const { id, text } = await exported(40);
  await inStore(async (store, kv, path) => {
    await using other = await openSessionStore({ path, now: () => NOW });
    async function* interrupted(): AsyncGenerator<StoredEvent> {
      let left = 35;
      for await (const event of parse(text)) {
        if (left-- === 0) assertEquals(await other.delete(id), { type: "deleted" });
        yield event;
      }
    }
    await assertRejects(
      () => store.adopt(headerOf(text), interrupted()),
      Error,
      "at the same time",
    );
    assertEquals(await allKeys(kv), []);
  });
});

Deno.test("importSession() lets go of a file it does not read to its end", async () => {
  const { text } = await exported(40);
  await inStore(async (store) => {
    await importSession(store, file(text));
    for (const content of [text, `nothing\n${text}`]) {
      let cancelled = 0;
      const bytes = new TextEncoder().encode(content);
      const result = await importSession(store, () => {
        let at = 0;
        return new ReadableStream({
          pull(controller) {
            controller.enqueue(bytes.slice(at, at += 1_000));
          },
          cancel: () => void cancelled++,
        });
      });
      assertEquals(result.type, content === text ? "exists" : "invalid");
      assertEquals(cancelled, 1);
    }
  });
});

Deno.test("importSession() keeps what older programs wrote as it is", async () => {
  const { id, text } = await exported(2);
  const old = text.replace(`"v":1`, `"v":0`).replace(`,"trigger":"prompt"`, "");
  assert(old !== text && old.includes(`"v":0`));
  await inStore(async (store) => {
    assertEquals((await importSession(store, file(old))).type, "imported");
    assert(await new Response(await exportSession(store, id)).text() === old);
    const log = await store.open(id);
    const [first] = await Array.fromAsync(log!.read());
    assertEquals([first?.v, first?.data], [1, { turn: 1, trigger: "prompt" }]);
  });
});
