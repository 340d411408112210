/**
 * The log: what an append costs over a bare commit of the same data, what reading a session of
 * 10,000 events costs over listing and encoding it, and how much memory a history of 50 MB takes.
 * Prints ratios of one interleaved run and asserts nothing.
 */
import { fileURLToPath } from "node:url";
import type { EventBody } from "../../session/events.ts";
import { SessionFold } from "../../session/fold.ts";
import { type Kv, openKv } from "../../session/kv.ts";
import type { SessionLog } from "../../session/log.ts";
import { openSessionStore } from "../../session/store.ts";

const ROUNDS = 10;
const WARM_UPS = 200;
const APPENDS = 3_000;
const EVENTS = 10_000;
const HISTORY_BYTES = 50_000_000;

async function main(): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await benchAppends(directory);
    await benchLoad(directory);
    await benchMemory(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** What a session is made of: prompts, calls, results of some hundred bytes. */
function body(index: number): EventBody {
  const callId = `call-${index}`;
  switch (index % 3) {
    case 0: {
      const text = `Please look at file ${index}. ${"x".repeat(100)}`;
      return { type: "user/message", data: { content: [{ type: "text", text }] } };
    }
    case 1: {
      const args = JSON.stringify({ command: `ls -la src/${index}` });
      return { type: "tool/call", data: { callId, name: "bash", arguments: args } };
    }
    default: {
      const text = "-rw-r--r-- 1 user user 1024 file.ts\n".repeat(20);
      const content = [{ type: "text", text }] as const;
      return {
        type: "tool/result",
        data: { callId, content, isError: false, outcome: "finished", meta: { exitCode: 0 } },
      };
    }
  }
}

/** A commit with a check of the last one's versionstamp, and nothing else. */
class BareLog {
  #kv: Kv;
  #id = crypto.randomUUID();
  #next = 0;
  #versionstamp: string | null = null;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  async append(event: EventBody): Promise<void> {
    const seq = this.#next++;
    const stored = { v: 1, seq, time: 1_700_000_000_000, ...event };
    const tail = ["session", this.#id, "tail"];
    const result = await this.#kv.atomic()
      .check({ key: tail, versionstamp: this.#versionstamp })
      .set(tail, { next: seq + 1, listedAt: 1_700_000_000_000 })
      .set(
        ["session", this.#id, "event", seq],
        new TextEncoder().encode(JSON.stringify(stored)),
      )
      .commit();
    this.#versionstamp = result.versionstamp ?? null;
  }
}

async function benchAppends(directory: string): Promise<void> {
  const kv = await openKv(`${directory}/bare.kv`);
  await using store = await openSessionStore({ path: `${directory}/log.kv`, now: Date.now });
  const { header } = await store.create({ cwd: "/" });
  const log = await store.claim(header.id);
  if (!log) throw new Error("There is no session");
  const bare = new BareLog(kv);
  const times = { bare: [] as number[], log: [] as number[] };
  for (let index = 0; index < WARM_UPS + APPENDS; index++) {
    // Whoever comes second finds the disk as the first one left it.
    const runs = {
      bare: () => bare.append(body(index)),
      log: () => log.append(body(index)),
    };
    const order = index % 2 === 0 ? ["bare", "log"] as const : ["log", "bare"] as const;
    for (const name of order) {
      const time = await timed(runs[name]);
      if (index >= WARM_UPS) times[name].push(time);
    }
  }
  kv.close();
  print(`appends, n=${APPENDS}, alternating`);
  print(`  bare commit with check ${show(times.bare, 3)}`);
  print(`  log                    ${show(times.log, 3)}`);
  print(`  throughput, ratio of medians ${ratio(times.bare, times.log)} (goal: at least 0.80)`);
}

async function benchLoad(directory: string): Promise<void> {
  const path = `${directory}/load.kv`;
  await using store = await openSessionStore({ path, now: Date.now });
  const log = await store.create({ cwd: "/" });
  for (let index = 0; index < EVENTS; index += 100) {
    await log.append(...Array.from({ length: 100 }, (_, offset) => body(index + offset)));
  }
  const kv = await openKv(path);
  const times = { bare: [] as number[], read: [] as number[], fold: [] as number[] };
  for (let round = -1; round < ROUNDS; round++) {
    const bare = await timed(() => listBare(kv, log.header.id));
    const read = await timed(() => readEncoded(log));
    const fold = await timed(() => readFolded(log));
    if (round < 0) continue;
    times.bare.push(bare);
    times.read.push(read);
    times.fold.push(fold);
  }
  kv.close();
  print(`reading ${EVENTS} events, n=${ROUNDS} interleaved`);
  print(`  bare kv.list, JSON both ways ${show(times.bare)}`);
  print(`  log, encoded                 ${show(times.read)}`);
  print(`  log, folded                  ${show(times.fold)}`);
  print(`  ratio of medians, encoded ${ratio(times.read, times.bare)} (goal: at most 2.00)`);
  print(`  ratio of medians, folded  ${ratio(times.fold, times.bare)} (goal: at most 2.00)`);
}

async function listBare(kv: Kv, id: string): Promise<number> {
  let length = 0;
  const decoder = new TextDecoder();
  for await (const { value } of kv.list({ prefix: ["session", id, "event"] }, { batchSize: 500 })) {
    const event: unknown = JSON.parse(decoder.decode(value as Uint8Array));
    length += JSON.stringify(event).length;
  }
  return length;
}

async function readEncoded(log: SessionLog): Promise<number> {
  let length = 0;
  for await (const event of log.read()) length += JSON.stringify(event).length;
  return length;
}

async function readFolded(log: SessionLog): Promise<number> {
  const fold = new SessionFold();
  for await (const event of log.read()) fold.apply(event);
  return fold.messages().length;
}

/** A process of its own for each, so that nothing else is in its memory. */
async function benchMemory(directory: string): Promise<void> {
  const path = `${directory}/history.kv`;
  let id: string;
  {
    await using store = await openSessionStore({ path, now: Date.now });
    const log = await store.create({ cwd: "/" });
    id = log.header.id;
    const text = "0123456789".repeat(10_000);
    for (let bytes = 0; bytes < HISTORY_BYTES; bytes += text.length) {
      const callId = `call-${bytes}`;
      const content = [{ type: "text", text }] as const;
      await log.append(
        { type: "tool/call", data: { callId, name: "bash", arguments: "{}" } },
        { type: "tool/result", data: { callId, content, isError: false, outcome: "finished" } },
      );
    }
  }
  print(`memory of a history of ${HISTORY_BYTES / 1e6} MB, peak of a process of its own`);
  for (
    const [part, name] of [
      ["nothing", "nothing read   "],
      ["history", "history read   "],
      ["fold", "agent's messages"],
    ] as const
  ) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", fileURLToPath(import.meta.url), part, path, id],
      stderr: "inherit",
    }).output();
    print(`  ${name} ${new TextDecoder().decode(stdout).trim()}`);
  }
}

async function measureHistory(path: string, id: string): Promise<void> {
  await using store = await openSessionStore({ path, now: Date.now });
  const log = await store.open(id);
  let peak = 0;
  let events = 0;
  for await (const _event of log?.read() ?? []) {
    if (++events % 20 === 0) peak = Math.max(peak, Deno.memoryUsage().rss);
  }
  reportMemory(peak);
}

async function measureFold(path: string, id: string): Promise<void> {
  await using store = await openSessionStore({ path, now: Date.now });
  const log = await store.open(id);
  if (log) await readFolded(log);
  reportMemory(0);
}

function reportMemory(peak: number): void {
  print(`${(Math.max(peak, Deno.memoryUsage().rss) / 1e6).toFixed(0)} MB`);
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await run();
  return performance.now() - from;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function ratio(ours: readonly number[], bare: readonly number[]): string {
  return (median(ours) / median(bare)).toFixed(2);
}

function show(times: readonly number[], digits = 0): string {
  const milliseconds = (time: number) => `${time.toFixed(digits)} ms`;
  return `median ${milliseconds(median(times))} (${milliseconds(Math.min(...times))} to ${
    milliseconds(Math.max(...times))
  })`;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

if (import.meta.main) {
  const [part, path = "", id = ""] = Deno.args;
  if (part === "history") await measureHistory(path, id);
  else if (part === "fold") await measureFold(path, id);
  else if (part === "nothing") reportMemory(0);
  else await main();
}
