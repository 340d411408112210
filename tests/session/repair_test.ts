import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { assertStringIncludes } from "@std/assert";
import type { EventBody, SessionEvent } from "../../session/events.ts";
import { SessionFold } from "../../session/fold.ts";
import { type Kv, type KvKey, openKv } from "../../session/kv.ts";
import { SessionInUseError } from "../../session/log_errors.ts";
import { recoveryEvents } from "../../session/recovery.ts";
import { openSessionStore, type SessionStore } from "../../session/store.ts";
import { historyProblems } from "../helpers/history_rules.ts";

const LONG = "long ".repeat(30_000);

function call(callId: string, text: string): EventBody[] {
  const [name, args] = ["bash", "{}"];
  return [
    { type: "tool/call", data: { callId, name, arguments: args } },
    {
      type: "tool/result",
      data: {
        callId,
        content: [{ type: "text", text }],
        isError: false,
        outcome: "finished",
      },
    },
  ];
}

/** A turn of two steps and two calls, one with a result of several parts. */
function turn(number: number): EventBody[] {
  const asked = [`${number}a`, `${number}b`].map((callId) =>
    ({ type: "tool_call", callId, name: "bash", arguments: "{}" }) as const
  );
  return [
    { type: "turn/start", data: { turn: number, trigger: "prompt" } },
    { type: "user/message", data: { content: [{ type: "text", text: `prompt ${number}` }] } },
    { type: "step/start", data: { step: 1 } },
    {
      type: "assistant/message",
      data: { parts: [{ type: "text", text: "Let me see." }, ...asked], model: "m" },
    },
    ...call(`${number}a`, "short"),
    ...call(`${number}b`, LONG),
    { type: "step/end", data: { step: 1 } },
    { type: "step/start", data: { step: 2 } },
    {
      type: "assistant/message",
      data: { parts: [{ type: "text", text: "Done." }], model: "m" },
    },
    { type: "step/end", data: { step: 2 } },
    { type: "turn/end", data: { turn: number, reason: { type: "completed" } } },
  ];
}

interface Place extends AsyncDisposable {
  readonly store: SessionStore;
  readonly kv: Kv;
  /** A session of three turns. */
  session(): Promise<{ id: string; events: readonly SessionEvent[] }>;
  /** Everything in the store, one line for each key, in order. */
  dump(prefix?: KvKey): Promise<string[]>;
}

async function place(): Promise<Place> {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/s.kv`;
  const store = await openSessionStore({ path, now: () => 5_000 });
  const kv = await openKv(path);
  return {
    store,
    kv,
    async session() {
      const log = await store.create({ cwd: "/work" });
      const events: SessionEvent[] = [];
      for (const number of [1, 2, 3]) events.push(...await log.append(...turn(number)));
      return { id: log.header.id, events };
    },
    async dump(prefix = []) {
      const lines: string[] = [];
      for await (const { key, value } of kv.list({ prefix })) {
        const bytes = value instanceof Uint8Array ? [...value.slice(0, 200)].join() : value;
        lines.push(JSON.stringify([key, bytes]));
      }
      return lines;
    },
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      kv.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

async function read(store: SessionStore, id: string): Promise<SessionEvent[]> {
  const log = await store.open(id);
  assert(log);
  return await Array.fromAsync(log.read());
}

/** As the next load leaves it: a turn that was left open is closed. */
function recovered(events: readonly SessionEvent[]): SessionEvent[] {
  const fold = new SessionFold();
  for (const event of events) fold.apply(event);
  const more = recoveryEvents(fold).map((body, index) =>
    ({ v: 1, seq: events.length + index, time: 0, ...body }) as const
  );
  return [...events, ...more];
}

const GARBAGE = new TextEncoder().encode("\x00no JSON");
const COUNT = turn(1).length * 3;

/** Every event alone, every two neighbours, and longer stretches across the ends of turns. */
const STRETCHES: readonly (readonly [from: number, length: number])[] = [
  ...Array.from({ length: COUNT }, (_, seq) => [seq, 1] as const),
  ...Array.from({ length: COUNT - 1 }, (_, seq) => [seq, 2] as const),
  ...[0, 5, 10, 11, 12, 20, 30].flatMap((seq) =>
    [3, 5, 9, 14, 20].flatMap((length) => seq + length <= COUNT ? [[seq, length] as const] : [])
  ),
];

for (const kind of ["missing", "damaged"] as const) {
  Deno.test(`mend() makes a valid history around whatever is ${kind}`, async () => {
    await using at = await place();
    for (const [from, length] of STRETCHES) {
      const { id, events } = await at.session();
      const lost = Array.from({ length }, (_, index) => from + index);
      const atomic = at.kv.atomic();
      for (const seq of lost) {
        const key = ["session", id, "event", seq];
        if (kind === "missing") atomic.delete(key);
        else atomic.set(key, GARBAGE);
      }
      await atomic.commit();
      const name = `${kind} ${from}+${length}`;

      const found = await at.store.inspect(id);
      for (const seq of lost) {
        const key = JSON.stringify(["session", id, "event", seq]);
        assert(found?.findings.some((finding) => finding.key === key), `${name}: ${key}`);
      }
      assertEquals(found?.readable, COUNT - length, name);
      const mended = await at.store.mend(id);
      assertEquals(mended?.mended, true, name);

      assertEquals((await at.store.inspect(id))?.findings, [], name);
      const after = await read(at.store, id);
      assertEquals(historyProblems(recovered(after)), [], name);
      // What could be read is where it was, as it was.
      for (const event of events) {
        if (lost.includes(event.seq)) continue;
        assert(JSON.stringify(after[event.seq]) === JSON.stringify(event), `${name}: ${event.seq}`);
      }
      if (kind === "damaged") {
        const kept = await at.dump(["session", id, "damaged"]);
        assertEquals(
          kept.filter((line) => line.includes([...GARBAGE].join())).length,
          length,
          name,
        );
      }
    }
  });
}

Deno.test("mend() gives back what the events around tell: calls, answers, results, ends", async () => {
  await using at = await place();
  const { id, events } = await at.session();
  const length = turn(1).length;
  const wanted = ["assistant/message", "tool/call", "tool/result", "step/end", "turn/end"];
  // One of each, in a turn of its own or far enough apart.
  const lost = [3, 12, length + 4, length + 7, length + 8];
  assertEquals(lost.map((seq) => String(events[seq]?.type)).sort(), [...wanted].sort());
  const atomic = at.kv.atomic();
  for (const seq of lost) atomic.delete(["session", id, "event", seq]);
  await atomic.commit();
  await at.store.mend(id);
  const after = await read(at.store, id);
  assertEquals(lost.map((seq) => after[seq]?.type), lost.map((seq) => events[seq]?.type));
  assertEquals(historyProblems(after), []);
  assertEquals(after[length + 4]?.data, events[length + 4]?.data);
});

Deno.test("inspect() writes nothing, and finds each kind of damage", async (t) => {
  const id = "ID";
  const cases: readonly (readonly [string, (kv: Kv, id: string) => Promise<unknown>, string])[] = [
    [
      "a tail that is behind",
      (kv) => kv.atomic().set(["session", id, "tail"], { next: 30, listedAt: 5_000 }).commit(),
      "30 events, and 39 are stored",
    ],
    [
      "a tail that is ahead",
      (kv) => kv.atomic().set(["session", id, "tail"], { next: 40, listedAt: 5_000 }).commit(),
      "the event is missing",
    ],
    [
      "a tail that is no tail",
      (kv) => kv.atomic().set(["session", id, "tail"], "?").commit(),
      "the tail is invalid",
    ],
    ["no tail", (kv) => kv.atomic().delete(["session", id, "tail"]).commit(), "tail is missing"],
    [
      "no header",
      (kv) => kv.atomic().delete(["session", id, "header"]).commit(),
      "header is missing",
    ],
    [
      "the header of another session",
      async (kv) => {
        const { value } = await kv.get(["session", id, "header"]);
        const other = { ...value as object, id: crypto.randomUUID() };
        return await kv.atomic().set(["session", id, "header"], other).commit();
      },
      "its id is not",
    ],
    [
      "a part that is gone",
      async (kv) => {
        for await (const { key } of kv.list({ prefix: ["session", id, "part"] }, { limit: 1 })) {
          await kv.atomic().delete(key as string[]).commit();
        }
      },
      "its part 0 is missing",
    ],
    [
      "a part of nothing",
      (kv) => kv.atomic().set(["session", id, "part", 3, "w", 0], new Uint8Array(5)).commit(),
      "belongs to no event",
    ],
    [
      "an event far beyond the end",
      (kv) => kv.atomic().set(["session", id, "event", 1e12], GARBAGE).commit(),
      "beyond the end",
    ],
    [
      "an event at no number",
      (kv) => kv.atomic().set(["session", id, "event", "x"], GARBAGE).commit(),
      "beyond the end",
    ],
    [
      "no place in the list",
      (kv) => kv.atomic().delete(["session_by_time", 5_000, id]).commit(),
      "not in the list",
    ],
    [
      "two places in the list",
      (kv) => kv.atomic().set(["session_by_time", 7_000, id], null).commit(),
      "more than once",
    ],
  ];
  for (const [name, damage, problem] of cases) {
    await t.step(name, async () => {
      await using at = await place();
      const session = await at.session();
      const aimed = aim(at.kv, id, session.id);
      await damage(aimed, session.id);
      const before = await at.dump();
      const found = await at.store.inspect(session.id);
      assertStringIncludes(JSON.stringify(found?.findings), problem);
      assertEquals(await at.dump(), before);
      await at.store.mend(session.id);
      assertEquals((await at.store.inspect(session.id))?.findings, []);
      const after = await read(at.store, session.id);
      assertEquals(historyProblems(after), []);
      assertEquals(after.length, COUNT);
      assertEquals((await at.store.header(session.id))?.cwd, "/work");
      assertEquals((await Array.fromAsync(at.store.list())).map(({ id }) => id), [session.id]);
    });
  }
});

/** The cases name the session before there is one. */
function aim(kv: Kv, from: string, to: string): Kv {
  const key = (parts: readonly unknown[]) =>
    parts.map((part) => part === from ? to : part) as string[];
  return {
    get: (of) => kv.get(key(of)),
    list: (selector, options) =>
      kv.list("prefix" in selector ? { prefix: key(selector.prefix) } : selector, options),
    atomic: () => {
      const atomic = kv.atomic();
      const set = atomic.set.bind(atomic);
      const remove = atomic.delete.bind(atomic);
      atomic.set = (of, value) => set(key(of), value);
      atomic.delete = (of) => remove(key(of));
      return atomic;
    },
    close: () => {},
  };
}

Deno.test("mend() leaves alone a session that a newer program wrote to", async () => {
  await using at = await place();
  const { id } = await at.session();
  const newer = new TextEncoder().encode('{"v":2,"seq":4,"time":1,"type":"tool/call","data":{}}');
  await at.kv.atomic()
    .set(["session", id, "event", 4], newer)
    .delete(["session", id, "event", 7])
    .commit();
  const before = await at.dump(["session", id, "event"]);
  const report = await at.store.mend(id);
  assertEquals([report?.newer, report?.mended], [true, false]);
  assertEquals(await at.dump(["session", id, "event"]), before);
});

Deno.test("mend() does not touch a session that is open, nor one that is whole", async () => {
  await using at = await place();
  const { id } = await at.session();
  await at.kv.atomic().delete(["session", id, "event", 7]).commit();
  const log = await at.store.claim(id);
  assert(log);
  await assertRejects(() => at.store.mend(id), SessionInUseError);
  assertNotEquals((await at.store.inspect(id))?.holder, undefined);
  await log[Symbol.asyncDispose]();
  const whole = await at.session();
  const before = await at.dump();
  assertEquals((await at.store.mend(whole.id))?.findings, []);
  assertEquals(await at.dump(), before);
  assertEquals(await at.store.inspect(crypto.randomUUID()), undefined);
  assertEquals(await at.store.mend(crypto.randomUUID()), undefined);
});

Deno.test("readDamaged() yields events and damages in order", async () => {
  await using at = await place();
  const { id } = await at.session();
  await at.kv.atomic()
    .delete(["session", id, "event", 2])
    .set(["session", id, "event", 4], GARBAGE)
    .delete(["session", id, "event", COUNT - 1])
    .commit();
  const log = await at.store.open(id);
  assert(log);
  const items = await Array.fromAsync(log.readDamaged());
  assertEquals(items.length, COUNT);
  const damages = items.flatMap((item, index) =>
    item.type === "damage" ? [[index, item.seq, item.reason, item.key]] : []
  );
  const key = (seq: number) => JSON.stringify(["session", id, "event", seq]);
  assertEquals(damages, [
    [2, 2, "missing", key(2)],
    [4, 4, "damaged", key(4)],
    [COUNT - 1, COUNT - 1, "missing", key(COUNT - 1)],
  ]);
  assert(items.every((item, index) => item.type === "damage" || item.event.seq === index));
});
