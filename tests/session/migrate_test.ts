import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { SessionEvent } from "../../session/events.ts";
import { SessionFold } from "../../session/fold.ts";
import { openKv } from "../../session/kv.ts";
import { NewerSchemaError } from "../../session/log_errors.ts";
import { migrateEvent, migrateHeader } from "../../session/migrate.ts";
import { openSessionStore } from "../../session/store.ts";
import { storeFixture } from "../helpers/store_fixture.ts";

async function inStore(use: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await use(`${directory}/s.kv`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function events(path: string, id: string): Promise<SessionEvent[]> {
  await using store = await openSessionStore({ path, now: () => 1 });
  const log = await store.open(id);
  assert(log);
  return await Array.fromAsync(log.read());
}

Deno.test("a session of schema 0 reads as one of the current schema", async () => {
  await inStore(async (path) => {
    const id = await storeFixture(path, "session_v0.jsonl");
    const read = await events(path, id);
    assertEquals(read.length, 16);
    assertEquals(new Set(read.map(({ v }) => v)), new Set([1]));
    const result = read.find(({ type }) => type === "tool/result");
    assert(result?.type === "tool/result");
    assertEquals(result.data.outcome, "finished");
    const fold = new SessionFold();
    for (const event of read) fold.apply(event);
    assertEquals(fold.messages().map(({ role }) => role), [
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
  });
});

Deno.test("an old session goes on with events of the current schema", async () => {
  await inStore(async (path) => {
    const id = await storeFixture(path, "session_v0.jsonl");
    {
      await using store = await openSessionStore({ path, now: () => 1 });
      const log = await store.claim(id);
      await log?.append(
        { type: "turn/start", data: { turn: 3, trigger: "command" } },
        { type: "turn/end", data: { turn: 3, reason: { type: "completed" } } },
      );
    }
    const read = await events(path, id);
    assertEquals(read.length, 18);
    assertEquals(read.at(-1)?.type, "turn/end");
  });
});

Deno.test("what a newer program wrote is refused with a line that says so", async (t) => {
  await t.step("an event", () =>
    inStore(async (path) => {
      const id = await storeFixture(path, "session_v0.jsonl", (line) =>
        line.replace('"v":0', '"v":2'));
      const error = await assertRejects(() =>
        events(path, id), NewerSchemaError);
      for (const part of ["schema 2", "up to 1", '"event",0', "Update dsh-acp"]) {
        assertStringIncludes(error.message, part);
      }
    }));
  await t.step("a header", () =>
    inStore(async (path) => {
      const id = await storeFixture(path, "session_v0.jsonl");
      const kv = await openKv(path);
      await kv.atomic().set(["session", id, "header"], { version: 9, id, place: "/work" }).commit();
      kv.close();
      await using store = await openSessionStore({ path, now: () => 1 });
      await assertRejects(() => store.open(id), NewerSchemaError, "schema 9");
      await assertRejects(() => store.claim(id), NewerSchemaError, "schema 9");
    }));
});

Deno.test("migrateEvent() changes only what lacks", () => {
  const result = { callId: "a", content: [], isError: true, outcome: "unknown" };
  for (
    const [before, after] of [
      [{ v: 0, type: "tool/result", data: result }, { v: 1, type: "tool/result", data: result }],
      [{ v: 0, type: "turn/start", data: { turn: 1 } }, {
        v: 1,
        type: "turn/start",
        data: { turn: 1, trigger: "prompt" },
      }],
      [{ v: 1, type: "turn/start", data: { turn: 1 } }, {
        v: 1,
        type: "turn/start",
        data: { turn: 1 },
      }],
      [{ v: 0, type: "turn/start", data: 7 }, { v: 1, type: "turn/start", data: 7 }],
      [{ v: -1 }, { v: -1 }],
      [{ v: "1" }, { v: "1" }],
      [null, null],
      ["text", "text"],
    ]
  ) assertEquals(migrateEvent(before), { type: "current", value: after });
  assertEquals(migrateEvent({ v: 2 }), { type: "newer", version: 2 });
  assertEquals(migrateHeader({ version: 0 }), { type: "current", value: { version: 1 } });
});
