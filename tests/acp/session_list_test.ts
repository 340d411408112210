import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import type { SessionHeader } from "../../session/events.ts";
import { openSessionStore } from "../../session/store.ts";
import type { JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "../helpers/acp_client.ts";
import { startAgent } from "../helpers/start_agent.ts";

interface Listed {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title?: string;
  readonly updatedAt: string;
}

interface Page {
  readonly sessions: readonly Listed[];
  readonly nextCursor?: string;
}

async function page(client: AcpClient, params: JsonObject = {}): Promise<Page> {
  return await client.call("session/list", params) as unknown as Page;
}

async function ids(client: AcpClient, params: JsonObject = {}): Promise<string[]> {
  return (await page(client, params)).sessions.map(({ sessionId }) => sessionId);
}

/** Follows the cursors to the end; `between` runs after each page. */
async function allIds(
  client: AcpClient,
  params: JsonObject = {},
  between: (number: number) => Promise<void> = () => Promise.resolve(),
): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  for (;;) {
    const got = await page(client, cursor === undefined ? params : { ...params, cursor });
    pages.push(got.sessions.map(({ sessionId }) => sessionId));
    cursor = got.nextCursor;
    if (cursor === undefined) return pages;
    await between(pages.length);
  }
}

/** Stores prompted sessions, each a second after the one before; the last one is the newest. */
async function fill(kv: string, cwds: readonly string[], start: number): Promise<string[]> {
  let time = start;
  await using store = await openSessionStore({ path: kv, now: () => time });
  const made: string[] = [];
  for (const [index, cwd] of cwds.entries()) {
    time = start + index * 1_000;
    const log = await store.create({ cwd });
    await log.append(
      { type: "turn/start", data: { turn: 1, trigger: "prompt" } },
      { type: "session/title", data: { title: `Session ${index}` } },
      { type: "turn/end", data: { turn: 1, reason: { type: "completed" } } },
    );
    made.push(log.header.id);
  }
  return made;
}

const YEAR_2001 = 1_000_000_000_000;

Deno.test("session/list of an empty store is empty and has no cursor", async () => {
  await using agent = await startAgent();
  assertEquals(await page(agent.client), { sessions: [] });
  assertEquals(await page(agent.client, { cwd: agent.workspace, cursor: null }), { sessions: [] });
});

Deno.test("session/list hides sessions until they are prompted, and tells the last prompt", async () => {
  await using agent = await startAgent();
  const { client, workspace } = agent;
  const first = await agent.newSession();
  const second = await agent.newSession();
  await agent.newSession();
  assertEquals(await ids(client), []);
  const started = Date.now();
  await client.prompt(first, "!echo one");
  await client.prompt(second, "!echo two");
  assertEquals(await ids(client), [second, first]);
  await client.prompt(first, "!echo three");
  const { sessions } = await page(client);
  assertEquals(sessions.map(({ updatedAt: _, ...rest }) => rest), [
    { sessionId: first, cwd: workspace, title: "!echo one" },
    { sessionId: second, cwd: workspace, title: "!echo two" },
  ]);
  for (const { updatedAt } of sessions) {
    assertEquals(new Date(updatedAt).toISOString(), updatedAt);
    assert(Date.parse(updatedAt) >= started && Date.parse(updatedAt) <= Date.now());
  }
  assertGreater(sessions[0]!.updatedAt, sessions[1]!.updatedAt);
  // Closing and reading change nothing.
  await client.call("session/close", { sessionId: second });
  await client.call("session/load", { sessionId: second, cwd: workspace, mcpServers: [] });
  assertEquals(await page(client), { sessions } as Page);
});

Deno.test("session/list pages newest first, each session once", async () => {
  await using agent = await startAgent();
  const made = await fill(agent.kv, Array(120).fill(agent.workspace), YEAR_2001);
  const pages = await allIds(agent.client);
  assertEquals(pages.map((one) => one.length), [50, 50, 20]);
  assertEquals(pages.flat(), made.toReversed());
});

Deno.test("session/list has no cursor where the last page is full", async () => {
  await using agent = await startAgent();
  await fill(agent.kv, Array(50).fill(agent.workspace), YEAR_2001);
  const got = await page(agent.client);
  assertEquals([got.sessions.length, got.nextCursor], [50, undefined]);
});

Deno.test("session/list keeps its place while sessions are made, prompted and deleted", async () => {
  await using agent = await startAgent();
  const { client } = agent;
  const made = await fill(agent.kv, Array(130).fill(agent.workspace), YEAR_2001);
  const newest = made.toReversed();
  // On page 1, the one that page 1 ends with, and one that is still to come.
  const [seen, edge, moved] = [newest[10]!, newest[49]!, newest[70]!];
  const load = (sessionId: string) =>
    client.call("session/load", { sessionId, cwd: agent.workspace, mcpServers: [] });
  const pages = await allIds(client, {}, async (number) => {
    if (number !== 1) return;
    await client.prompt(await agent.newSession(), "!true");
    await load(seen);
    await client.prompt(seen, "!true");
    await client.call("session/delete", { sessionId: edge });
    await load(moved);
    await client.prompt(moved, "!true");
  });
  // What moved to the front is not there twice, and nothing else is missing.
  assertEquals(pages.flat(), newest.filter((id) => id !== moved));
});

Deno.test("session/list filters by working directory, whatever link leads to it", async () => {
  await using agent = await startAgent({ files: { "sub/a.txt": "a", "other/a.txt": "a" } });
  const { client } = agent;
  const sub = agent.path("sub");
  const gone = agent.path("gone");
  const link = agent.path("link");
  await Deno.symlink(sub, link);
  const cwds = Array.from(
    { length: 60 },
    (_, index) => [sub, gone, agent.path("other")][index % 3]!,
  );
  const made = await fill(agent.kv, cwds, YEAR_2001);
  const linked = await fill(agent.kv, [link], YEAR_2001 + 100_000);
  const of = (cwd: string) => made.filter((_, index) => cwds[index] === cwd).toReversed();
  assertEquals(await ids(client, { cwd: sub }), [...linked, ...of(sub)]);
  assertEquals(await ids(client, { cwd: `${sub}/` }), [...linked, ...of(sub)]);
  assertEquals(await ids(client, { cwd: link }), [...linked, ...of(sub)]);
  assertEquals(await ids(client, { cwd: gone }), of(gone));
  assertEquals(await ids(client, { cwd: agent.workspace }), []);
  assertEquals(await ids(client, { cwd: agent.path("su") }), []);
});

Deno.test("session/list pages what the filter leaves", async () => {
  await using agent = await startAgent({ files: { "sub/a.txt": "a" } });
  const sub = agent.path("sub");
  const cwds = Array.from({ length: 140 }, (_, index) => index % 2 ? sub : agent.workspace);
  const made = await fill(agent.kv, cwds, YEAR_2001);
  const pages = await allIds(agent.client, { cwd: sub });
  assertEquals(pages.map((one) => one.length), [50, 20]);
  assertEquals(pages.flat(), made.filter((_, index) => index % 2).toReversed());
});

Deno.test("session/list refuses a cursor or a directory that is none", async () => {
  await using agent = await startAgent();
  const place = (text: string) => btoa(text);
  const id = crypto.randomUUID();
  const wrong: readonly (readonly [JsonObject, string])[] = [
    ...["", "x", "%%%", place("1"), place(`-1 ${id}`), place(`1e3 ${id}`), place(`1 ${id}x`)]
      .map((cursor): [JsonObject, string] => [
        { cursor },
        `cursor must be the nextCursor of an earlier page; got ${JSON.stringify(cursor)}`,
      ]),
    [{ cursor: 7 }, "cursor is invalid"],
    [{ cwd: "sub" }, 'cwd must be an absolute path; got "sub"'],
    [{ cwd: "" }, 'cwd must be an absolute path; got ""'],
    [{ cwd: 7 }, "cwd is invalid"],
  ];
  for (const [params, rule] of wrong) {
    const answered = await agent.client.request("session/list", params);
    assert(answered.type === "error", JSON.stringify(params));
    assertEquals(answered.error.code, -32602);
    assertStringIncludes(answered.error.message, rule);
  }
  // A place where no session is any more is still a place.
  assertEquals(await page(agent.client, { cursor: place(`5 ${id}`) }), { sessions: [] });
});

Deno.test("session/list sees what another process on the same store does", async () => {
  await using agent = await startAgent();
  const second = await agent.spawn();
  const sessionId = await second.newSession(agent.workspace);
  await second.prompt(sessionId, "!true");
  assertEquals(await ids(agent.client), [sessionId]);
  await second.prompt(sessionId, "!true");
  const [listed] = (await page(agent.client)).sessions;
  assertEquals([listed?.sessionId, listed?.title], [sessionId, "!true"]);
});

Deno.test("list() is in the same order for sessions of the same millisecond", async () => {
  await using store = await openSessionStore({ path: ":memory:", now: () => 5 });
  const headers: SessionHeader[] = [];
  for (let index = 0; index < 5; index++) {
    const log = await store.create({ cwd: "/" });
    await log.append({ type: "turn/start", data: { turn: 1, trigger: "prompt" } });
    headers.push(log.header);
  }
  const expected = headers.map(({ id }) => id).toSorted().toReversed();
  const found: string[] = [];
  let before: { listedAt: number; id: string } | undefined;
  for (;;) {
    const next = await Array.fromAsync(store.list(before)).then(([first]) => first);
    if (!next) break;
    found.push(next.id);
    before = next;
  }
  assertEquals(found, expected);
});
