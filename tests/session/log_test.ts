import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { EventBody } from "../../session/events.ts";
import { type Kv, openKv } from "../../session/kv.ts";
import { DamagedEventError, LogConflictError, type SessionLog } from "../../session/log.ts";
import { openSessionStore, type SessionStore } from "../../session/store.ts";

interface Place extends AsyncDisposable {
  readonly path: string;
  readonly store: SessionStore;
}

async function place(): Promise<Place> {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/sessions.kv`;
  const store = await openSessionStore({ path, now: () => 1_000 });
  return {
    path,
    store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await Deno.remove(directory, { recursive: true });
    },
  };
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

async function withKv(path: string, use: (kv: Kv) => Promise<void>): Promise<void> {
  const kv = await openKv(path);
  try {
    await use(kv);
  } finally {
    kv.close();
  }
}

Deno.test("append() numbers events from 0 and another opening reads them back", async () => {
  await using at = await place();
  const log = await at.store.create({ cwd: "/work" });
  const [first] = await log.append(say("a"));
  await log.append(say("b"), say("c"));
  assertEquals(first, { v: 1, seq: 0, time: 1_000, ...say("a") });
  const again = await at.store.open(log.header.id);
  assert(again);
  assertEquals(again.length, 3);
  assertEquals(await texts(again), ["a", "b", "c"]);
  assertEquals(again.header, { version: 1, id: log.header.id, cwd: "/work", createdAt: 1_000 });
});

const SIZES: readonly (readonly [string, string])[] = [
  ["63 KiB", "x".repeat(63 * 1024)],
  ["64 KiB", "x".repeat(64 * 1024)],
  ["65 KiB", "x".repeat(65 * 1024)],
  ["1 MB of Chinese", "終端卡片".repeat(83_334)],
  ["5 MB of base64", btoa("\x00\xff\x7f".repeat(1_250_000))],
  ["escapes and surrogates", '\u0000"\\\ud83d\ude00\u2028'.repeat(20_000)],
];

for (const [name, text] of SIZES) {
  Deno.test(`append() keeps an event of ${name} exactly`, async () => {
    await using at = await place();
    const log = await at.store.create({ cwd: "/" });
    await log.append(say("before"), say(text), say("after"));
    const again = await at.store.open(log.header.id);
    assert(again);
    const read = await texts(again);
    // Not assertEquals: its message would hold the whole text.
    assert(read.length === 3 && read[1] === text && read[2] === "after");
  });
}

Deno.test("append() refuses a second writer and writes nothing of it", async () => {
  await using at = await place();
  const first = await at.store.create({ cwd: "/" });
  const second = await at.store.open(first.header.id);
  assert(second);
  await first.append(say("first"));
  await assertRejects(() => second.append(say("second")), LogConflictError, first.header.id);
  await assertRejects(() => second.append(say("again")), LogConflictError);
  await first.append(say("third"));
  assertEquals(await texts(first), ["first", "third"]);
});

Deno.test("append() reads no part of a large event that a refused writer left", async () => {
  await using at = await place();
  const first = await at.store.create({ cwd: "/" });
  const second = await at.store.open(first.header.id);
  assert(second);
  const large = "y".repeat(3_000_000);
  const [kept, refused] = await Promise.allSettled([
    first.append(say(large)),
    second.append(say("z".repeat(3_000_000))),
  ]);
  assertEquals([kept.status, refused.status].sort(), ["fulfilled", "rejected"]);
  const again = await at.store.open(first.header.id);
  assert(again);
  const [read] = await texts(again);
  assert(read === large || read === "z".repeat(3_000_000));
});

Deno.test("append() keeps the order of calls that are not awaited", async () => {
  await using at = await place();
  const log = await at.store.create({ cwd: "/" });
  const names = Array.from({ length: 50 }, (_, index) => `event ${index}`);
  await Promise.all(names.map((name) => log.append(say(name))));
  assertEquals(await texts(log), names);
});

Deno.test("append() rejects an invalid event, names the field, and goes on", async () => {
  await using at = await place();
  const log = await at.store.create({ cwd: "/" });
  const bad = { type: "turn/start", data: { turn: 0, trigger: "prompt" } } as EventBody;
  const error = await assertRejects(() => log.append(bad), TypeError);
  assertStringIncludes(error.message, "turn/start: turn");
  const unknown = { type: "turn/stop", data: {} } as unknown as EventBody;
  await assertRejects(() => log.append(unknown), TypeError, 'unknown event type "turn/stop"');
  assertEquals((await log.append(say("fine")))[0]?.seq, 0);
});

Deno.test("append() freezes events and keeps later changes of the caller out", async () => {
  await using at = await place();
  const log = await at.store.create({ cwd: "/" });
  const content: { type: "text"; text: string }[] = [{ type: "text", text: "as logged" }];
  const pending = log.append({ type: "user/message", data: { content } });
  const [event] = await pending;
  content[0]!.text = "changed";
  assertEquals(await texts(log), ["as logged"]);
  assert(event?.type === "user/message");
  assert(Object.isFrozen(event) && Object.isFrozen(event.data.content[0]));
});

Deno.test("subscribe() tells of durable events only, and survives a listener that throws", async () => {
  const directory = await Deno.makeTempDir();
  const faults: unknown[] = [];
  const path = `${directory}/s.kv`;
  const store = await openSessionStore({
    path,
    now: () => 1,
    onFault: (error) => faults.push(error),
  });
  try {
    const log = await store.create({ cwd: "/" });
    const seen: number[] = [];
    using _bad = log.subscribe(() => {
      throw new Error("listener");
    });
    using _good = log.subscribe((event) => seen.push(event.seq));
    await log.append(say("a"));
    await log.append(say("b"));
    assertEquals(seen, [0, 1]);
    assertEquals(faults.length, 2);
  } finally {
    await store[Symbol.asyncDispose]();
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("read() names the key of an event that is missing or damaged", async (t) => {
  const damages: readonly (readonly [string, (kv: Kv, key: string[]) => Promise<unknown>])[] = [
    ["missing", (kv, key) => kv.atomic().delete([...key, 1]).commit()],
    ["not JSON", (kv, key) => kv.atomic().set([...key, 1], new Uint8Array([123])).commit()],
    ["no event", (kv, key) => kv.atomic().set([...key, 1], "text").commit()],
    [
      "of another place",
      (kv, key) => {
        const event = { v: 1, seq: 7, time: 1, ...say("moved") };
        const bytes = new TextEncoder().encode(JSON.stringify(event));
        return kv.atomic().set([...key, 1], bytes).commit();
      },
    ],
    [
      "of a newer schema",
      (kv, key) => {
        const event = { v: 2, seq: 1, time: 1, ...say("newer") };
        const bytes = new TextEncoder().encode(JSON.stringify(event));
        return kv.atomic().set([...key, 1], bytes).commit();
      },
    ],
  ];
  for (const [name, damage] of damages) {
    await t.step(name, async () => {
      await using at = await place();
      const log = await at.store.create({ cwd: "/" });
      await log.append(say("a"), say("b"), say("c"));
      await withKv(
        at.path,
        async (kv) => void await damage(kv, ["session", log.header.id, "event"]),
      );
      const error = await assertRejects(() => texts(log), DamagedEventError);
      assertEquals(error.key, JSON.stringify(["session", log.header.id, "event", 1]));
    });
  }
});

Deno.test("openSessionStore() names the path it cannot open", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const error = await assertRejects(() => openSessionStore({ path: directory, now: () => 0 }));
    assert(error instanceof Error);
    assertStringIncludes(error.message, directory);
    assertEquals(error.message.includes("\n"), false);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test({
  name: "openSessionStore() makes a file that only its owner can read",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await using at = await place();
    await at.store.create({ cwd: "/" });
    for (const suffix of ["", "-wal"]) {
      const { mode } = await Deno.stat(`${at.path}${suffix}`);
      assertEquals((mode ?? 0) & 0o777, 0o600, suffix);
    }
  },
});
