import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import type { SessionEvent } from "../../session/events.ts";
import { SessionInUseError } from "../../session/log_errors.ts";
import type { SessionLog } from "../../session/log.ts";
import { openSessionStore, type SessionStore } from "../../session/store.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, text, wait } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";
import { readLog } from "../helpers/stored_log.ts";

Deno.test("session/load of a session that another server has is refused and names it", async () => {
  const gate = Promise.withResolvers<void>();
  await using model = ModelServer.start([answer(text("slow"), wait(gate.promise), text(" end"))]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const load = { sessionId, cwd: agent.workspace, mcpServers: [] };
  const pending = agent.client.prompt(sessionId, "go");
  await agent.client.until(
    () => JSON.stringify(agent.client.updates).includes("slow") || undefined,
    "the answer's beginning",
  );

  const second = await agent.spawn();
  for (const method of ["session/load", "session/resume"]) {
    const refused = await second.request(method, load);
    assert(refused.type === "error", method);
    assertEquals(refused.error.code, -32602);
    assertMatch(refused.error.message, /sessionId must not be in use/);
    assertMatch(refused.error.message, /pid \d+ on host ".+" since \d{4}-/);
  }
  assertEquals(second.updatesOf(sessionId), []);

  // The first one was not disturbed: its turn was open, and is its own to close.
  gate.resolve();
  const ended = await pending;
  assertEquals(ended.type === "result" && ended.result, { stopReason: "end_turn" });
  await agent.client.call("session/close", { sessionId });
  await second.call("session/load", load);
  const types = (await readLog(agent.kv, sessionId)).map(({ type }) => type);
  assertEquals(types.filter((type) => type.startsWith("turn/")), ["turn/start", "turn/end"]);
  const back = await agent.client.request("session/load", load);
  assert(back.type === "error" && back.error.code === -32602);
});

Deno.test({
  name: "session/load succeeds at once after kill -9 of the server that had it",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using agent = await startAgent();
    const sessionId = await agent.newSession();
    await agent.client.prompt(sessionId, "!echo one");
    const second = await agent.spawn();
    agent.client.kill("SIGKILL");
    await agent.client.exited;
    await second.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
    const next = await second.prompt(sessionId, "!echo two");
    assertEquals(next.type, "result");
  },
});

/** A process that writes to a session of its own in a store. */
interface Writer extends AsyncDisposable {
  readonly process: Deno.ChildProcess;
  /** The lines of its stdout so far, and to come. */
  line(matches: (line: string) => boolean): Promise<string>;
  readonly ended: Promise<string>;
}

function startWriter(...args: readonly string[]): Writer {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      fileURLToPath(new URL("../fixtures/store_writer.ts", import.meta.url)),
      ...args,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let output = "";
  let done = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const one of waiting) one();
  };
  const ended = (async () => {
    for await (const chunk of process.stdout.pipeThrough(new TextDecoderStream())) {
      output += chunk;
      wake();
    }
    await process.status;
    done = true;
    wake();
    return output;
  })();
  return {
    process,
    ended,
    async line(matches) {
      for (;;) {
        const found = output.split("\n").slice(0, -1).find(matches);
        if (found !== undefined) return found;
        if (done) throw new Error(`The writer ended before the line came: ${output.slice(-500)}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        await promise;
        waiting.delete(resolve);
      }
    },
    [Symbol.asyncDispose]: async () => {
      try {
        process.kill("SIGKILL");
      } catch {
        // It has ended by itself.
      }
      await ended;
      if (!process.stdin.locked) await process.stdin.abort();
    },
  };
}

async function sessionOf(writer: Writer): Promise<string> {
  return (await writer.line((line) => line.startsWith("session "))).slice("session ".length);
}

function prompts(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) => {
    const [first] = event.type === "user/message" ? event.data.content : [];
    return first?.type === "text" ? [first.text] : [];
  });
}

async function inStore(use: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await use(`${directory}/s.kv`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const APPENDS = 1_000;

for (const count of [2, 4]) {
  Deno.test(`${count} processes with ${APPENDS} appends each lose and mix nothing`, async () => {
    await inStore(async (path) => {
      const labels = Array.from({ length: count }, (_, index) => `writer${index}`);
      const writers = labels.map((label) => startWriter(path, String(APPENDS), label));
      await using stack = new AsyncDisposableStack();
      for (const writer of writers) stack.use(writer);
      const outputs = await Promise.all(writers.map(({ ended }) => ended));
      for (const [index, writer] of writers.entries()) {
        assertEquals((await writer.process.status).code, 0, outputs[index]?.slice(-300));
        const events = await readLog(path, await sessionOf(writer));
        assertEquals(events.map(({ seq }) => seq), Array.from({ length: APPENDS }, (_, n) => n));
        const wanted = Array.from({ length: APPENDS - 1 }, (_, n) => `${labels[index]} ${n + 1}`);
        assertEquals(prompts(events), wanted);
      }
    });
  });
}

/** Claims as soon as the session is free, and says how long that took, in milliseconds. */
async function claimWhenFree(
  store: SessionStore,
  id: string,
): Promise<{ readonly log: SessionLog; readonly took: number }> {
  const from = performance.now();
  for (;;) {
    try {
      const log = await store.claim(id);
      assert(log);
      return { log, took: performance.now() - from };
    } catch (error) {
      if (!(error instanceof SessionInUseError) || performance.now() - from > 20_000) throw error;
      // Nothing tells of a lease that runs out.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

Deno.test({
  name: "a session of a killed process is free within the lease time where its death is not known",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inStore(async (path) => {
      await using writer = startWriter(path, "100000000", "w", "1000");
      const id = await sessionOf(writer);
      await writer.line((line) => line === "durable 100");
      await using store = await openSessionStore({ path, now: Date.now });
      writer.process.kill("SIGKILL");
      const output = await writer.ended;
      const { log, took } = await claimWhenFree(store, id);
      // The lease lives for 1 s; the rest is the patience of a busy machine.
      assert(took < 5_000, `took ${took} ms`);
      const durable = Number(output.match(/durable (\d+)\n(?!.*durable \d+\n)/s)?.[1]);
      assert(log.length >= durable + 1, `${log.length} events, ${durable} were acknowledged`);
    }),
});

Deno.test({
  name: "a process that slept through its lease is refused, and nothing interleaves",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inStore(async (path) => {
      await using writer = startWriter(path, "100000000", "sleeper", "600", "51");
      const id = await sessionOf(writer);
      await writer.line((line) => line === "durable 50");
      // Not in the middle of a commit: that would stop everybody who uses the store.
      writer.process.kill("SIGSTOP");
      await using store = await openSessionStore({
        path,
        now: Date.now,
        lease: { identity: { pid: Deno.pid, host: "here" } },
      });
      const { log } = await claimWhenFree(store, id);
      const taken = log.length;
      const say = (name: string) =>
        log.append({ type: "user/message", data: { content: [{ type: "text", text: name }] } });
      await say("mine 0");
      writer.process.kill("SIGCONT");
      const stdin = writer.process.stdin.getWriter();
      await stdin.write(new Uint8Array(1));
      stdin.releaseLock();
      // Both write now: one of them in vain.
      const refused = writer.line((line) => line.startsWith("refused "));
      for (let index = 1; index < 50; index++) await say(`mine ${index}`);
      assertStringIncludes(await refused, "LogConflictError");
      assertStringIncludes(await refused, `pid ${Deno.pid} on host "here"`);
      assertEquals((await writer.process.status).code, 3);
      const texts = prompts(await Array.fromAsync(log.read()));
      assertEquals(texts.slice(0, taken - 1).every((one) => one.startsWith("sleeper ")), true);
      assertEquals(texts.slice(taken - 1), Array.from({ length: 50 }, (_, n) => `mine ${n}`));
    }),
});
