import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { assertStringIncludes } from "@std/assert";
import { agentFactory } from "../../session/agent_factory.ts";
import { ApprovalService } from "../../session/approval.ts";
import type { EventBody } from "../../session/events.ts";
import type { LeaseOptions } from "../../session/lease.ts";
import type { SessionLog } from "../../session/log.ts";
import { LogConflictError, SessionInUseError } from "../../session/log_errors.ts";
import type { Model } from "../../session/model/model.ts";
import { PERMISSION_PRESETS } from "../../session/permission_presets.ts";
import { openSessionStore, type SessionStore } from "../../session/store.ts";
import { ToolRegistry } from "../../tools/tool_registry.ts";

/** One store file, a clock, and processes that share them. */
interface World extends AsyncDisposable {
  now: number;
  /** Opens the store as one more process, whose heartbeat beats when told. */
  process(lease?: LeaseOptions): Promise<Process>;
}

interface Process {
  readonly store: SessionStore;
  /** Runs the timers that are due, and resolves when each renewal is over. */
  beat(): Promise<void>;
}

async function world(): Promise<World> {
  const directory = await Deno.makeTempDir();
  const stores: SessionStore[] = [];
  const made: World = {
    now: 1_000_000,
    async process(lease = {}) {
      const timers = new Set<() => void>();
      const store = await openSessionStore({
        path: `${directory}/s.kv`,
        now: () => made.now,
        lease: {
          startTimer: (callback) => {
            timers.add(callback);
            return () => void timers.delete(callback);
          },
          ...lease,
        },
      });
      stores.push(store);
      return {
        store,
        beat: async () => {
          const due = [...timers];
          timers.clear();
          for (const callback of due) callback();
          while (timers.size < due.length) await new Promise((resolve) => setTimeout(resolve, 1));
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await Deno.remove(directory, { recursive: true });
    },
  };
  return made;
}

const A: LeaseOptions = { identity: { pid: 4711, host: "desk", place: "p a" } };

async function claimed({ store }: Process, id: string): Promise<SessionLog> {
  const log = await store.claim(id);
  assert(log);
  return log;
}

function start(turn: number): EventBody {
  return { type: "turn/start", data: { turn, trigger: "prompt" } };
}

function end(turn: number): EventBody {
  return { type: "turn/end", data: { turn, reason: { type: "completed" } } };
}

async function types(log: SessionLog): Promise<string[]> {
  return (await Array.fromAsync(log.read())).map(({ type }) => type);
}

Deno.test("claim() refuses a session that another process has, and says who", async () => {
  await using at = await world();
  const [a, b] = [await at.process(A), await at.process()];
  const { header } = await a.store.create({ cwd: "/" });
  const log = await claimed(a, header.id);
  at.now += 2_500;
  const error = await assertRejects(() => b.store.claim(header.id), SessionInUseError);
  assertEquals(error.sessionId, header.id);
  assertEquals(error.holder.pid, 4711);
  for (
    const part of [header.id, "pid 4711", 'host "desk"', "1970-01-01T00:16:40.000Z", "free in 13 s"]
  ) assertStringIncludes(error.message, part);
  await assertRejects(() => a.store.claim(header.id), SessionInUseError);
  await log.append(start(1), end(1));
});

Deno.test("claim() is free again when the log or the store is disposed", async () => {
  await using at = await world();
  const [a, b] = [await at.process(A), await at.process()];
  const { header } = await a.store.create({ cwd: "/" });
  const log = await claimed(a, header.id);
  await log.append(start(1));
  await log[Symbol.asyncDispose]();
  await assertRejects(() => log.append(end(1)), LogConflictError, "closed here");
  await claimed(b, header.id);
  await b.store[Symbol.asyncDispose]();
  const again = await claimed(a, header.id);
  assertEquals(await types(again), ["turn/start"]);
});

Deno.test("claim() of nothing leaves nothing", async () => {
  await using at = await world();
  const { store } = await at.process();
  assertEquals(await store.claim(crypto.randomUUID()), undefined);
});

Deno.test("a heartbeat keeps a lease beyond its time", async () => {
  await using at = await world();
  const [a, b] = [await at.process(A), await at.process()];
  const { header } = await a.store.create({ cwd: "/" });
  await claimed(a, header.id);
  for (let beats = 0; beats < 4; beats++) {
    at.now += 5_000;
    await a.beat();
  }
  await assertRejects(() => b.store.claim(header.id), SessionInUseError);
  at.now += 14_999;
  await assertRejects(() => b.store.claim(header.id), SessionInUseError);
  at.now += 1;
  await claimed(b, header.id);
});

Deno.test("an owner that slept is refused at its next append, and told by whom", async () => {
  await using at = await world();
  const [a, b] = [await at.process(), await at.process(A)];
  const { header } = await a.store.create({ cwd: "/" });
  const sleeper = await claimed(a, header.id);
  await sleeper.append(start(1));
  at.now += 15_000;
  // The new owner has written nothing yet: the old one must not write all the same.
  const owner = await claimed(b, header.id);
  const error = await assertRejects(() => sleeper.append(end(1)), LogConflictError);
  assertStringIncludes(error.message, "pid 4711");
  assertEquals(sleeper.lost?.aborted, true);
  await owner.append(end(1));
  await assertRejects(() => sleeper.append(start(2)), LogConflictError);
  assertEquals(await types(owner), ["turn/start", "turn/end"]);
  // It does not take the lease away from the new owner either.
  await sleeper[Symbol.asyncDispose]();
  await a.store[Symbol.asyncDispose]();
  await assertRejects(async () => (await at.process()).store.claim(header.id), SessionInUseError);
});

Deno.test("the heartbeat of an owner that slept tells it of the loss", async () => {
  await using at = await world();
  const [a, b] = [await at.process(), await at.process(A)];
  const { header } = await a.store.create({ cwd: "/" });
  const sleeper = await claimed(a, header.id);
  at.now += 15_000;
  await claimed(b, header.id);
  const lost = new Promise((resolve) => sleeper.lost?.addEventListener("abort", resolve));
  void a.beat();
  await lost;
  assertInstanceOf(sleeper.lost?.reason, LogConflictError);
});

Deno.test("claim() takes over at once from an owner that is known to be dead", async () => {
  await using at = await world();
  const a = await at.process(A);
  const b = await at.process({ isGone: ({ pid }) => Promise.resolve(pid === 4711) });
  const { header } = await a.store.create({ cwd: "/" });
  const dead = await claimed(a, header.id);
  await claimed(b, header.id);
  await assertRejects(() => dead.append(start(1)), LogConflictError);
});

Deno.test("claim() does not wait for a clock that was set back", async () => {
  await using at = await world();
  const [a, b] = [await at.process(A), await at.process()];
  const { header } = await a.store.create({ cwd: "/" });
  await claimed(a, header.id);
  at.now -= 3_600_000;
  await claimed(b, header.id);
});

Deno.test("of many claims at once exactly one succeeds", async () => {
  await using at = await world();
  const processes = await Promise.all(Array.from({ length: 6 }, () => at.process()));
  const { header } = await processes[0]!.store.create({ cwd: "/" });
  const results = await Promise.allSettled(
    processes.map(({ store }) => store.claim(header.id)),
  );
  assertEquals(results.filter(({ status }) => status === "fulfilled").length, 1);
  for (const result of results) {
    if (result.status === "rejected") assertInstanceOf(result.reason, SessionInUseError);
  }
});

Deno.test("resume() of a live session writes nothing, and names the owner", async () => {
  await using at = await world();
  const [a, b] = [await at.process(A), await at.process()];
  const { header } = await a.store.create({ cwd: "/" });
  const log = await claimed(a, header.id);
  // An open turn: what a recovery would close.
  await log.append(start(1));
  await assertRejects(() => factory(b.store).resume(header.id), SessionInUseError, "pid 4711");
  await log.append(end(1));
  assertEquals(await types(log), ["turn/start", "turn/end"]);
});

Deno.test("a turn whose session was taken over stops and ends with an error", async () => {
  await using at = await world();
  const [a, b] = [await at.process(), await at.process(A)];
  const asked = Promise.withResolvers<void>();
  const agent = await factory(a.store, waitingModel(asked.resolve)).create({ cwd: "/" });
  const turn = agent.prompt([{ type: "text", text: "go on" }]);
  await asked.promise;
  at.now += 15_000;
  const owner = await claimed(b, agent.header.id);
  void a.beat();
  const reason = await turn;
  assert(reason.type === "error");
  assertStringIncludes(reason.message, "pid 4711");
  const found = await types(owner);
  assertEquals(found.filter((type) => type.startsWith("turn/")), ["turn/start"]);
  await agent[Symbol.asyncDispose]();
});

Deno.test("resume() frees a session that it cannot open", async () => {
  await using at = await world();
  const [a, b] = [await at.process(), await at.process()];
  const { header } = await a.store.create({ cwd: "/" });
  const failing = factory(a.store, undefined, () => Promise.reject(new TypeError("no tools")));
  await assertRejects(() => failing.resume(header.id), TypeError, "no tools");
  await claimed(b, header.id);
});

function factory(
  store: SessionStore,
  model?: Model,
  toolsFor = () => Promise.resolve(new ToolRegistry()),
) {
  return agentFactory({
    store,
    approvals: new ApprovalService(),
    models: {
      models: [],
      defaultModel: { provider: "test", model: "test" },
      resolve: () =>
        Promise.resolve(
          model
            ? { type: "ready", model }
            : { type: "unavailable", code: "no_model", message: "none" },
        ),
    },
    defaults: { preset: "workspace-write", presets: PERMISSION_PRESETS },
    toolsFor,
    policyFor: ({ cwd }) => (mode) => ({
      mode,
      writableRoots: [cwd],
      protectedPaths: [],
      network: "on",
      enforcement: "sandbox",
    }),
  });
}

/** Answers nothing until it is cancelled. */
function waitingModel(asked: () => void): Model {
  return {
    info: { provider: "test", model: "test", name: "Test" },
    async *stream({ signal }) {
      asked();
      await new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve(), { once: true })
      );
      const failure = { code: "transport", message: "cancelled", retryable: false } as const;
      yield { type: "failure", failure };
    },
  };
}
