import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Kv, type KvKey, openKv, type OpenKvOptions } from "../../session/kv.ts";
import { Secret } from "../../session/model/secret.ts";
import { StoreOpenError, StoreUnavailableError } from "../../session/store_errors.ts";
import { KvConnectServer } from "../helpers/kv_connect_server.ts";

const KEYS: readonly KvKey[] = [
  ["part", ""],
  ["part", "a\0b"],
  ["part", "a\0b", 1],
  ["part", "終端"],
  ["part", new Uint8Array([0, 255, 1])],
  ...[-1e300, -1.5, 0, 0.25, 2, 10, Number.MAX_SAFE_INTEGER].map((one) => ["part", one]),
];

const VALUES: readonly unknown[] = [
  { write: "w", bytes: 3, more: [null, { deep: true }] },
  "終端\u{1f600}",
  new Uint8Array([1, 2, 3]),
  new Uint8Array(),
  null,
  1e300,
];

function open(server: KvConnectServer, options: OpenKvOptions = {}): Promise<Kv> {
  return openKv(server.url, { token: new Secret(server.token), timeoutMs: 5_000, ...options });
}

/** Other clients of the same protocol: the one in Deno, and the one on npm. */
async function openElsewhere(server: KvConnectServer): Promise<Record<string, Kv>> {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", server.token);
  const name = "npm:@deno/kv@0.14.0";
  const npm = await import(name);
  return {
    "Deno.openKv": await Deno.openKv(server.url) as unknown as Kv,
    "npm:@deno/kv": await npm.openKv(server.url, {
      implementation: "remote",
      accessToken: server.token,
    }),
  };
}

async function everything(kv: Kv, prefix: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { key, value, versionstamp } of kv.list({ prefix: [prefix] })) {
    found.push([key.slice(1), value, versionstamp]);
  }
  return found;
}

Deno.test("openKv() of a URL writes what other clients read, and reads what they write", async () => {
  await using server = KvConnectServer.start();
  const ours = await open(server);
  for (const [name, theirs] of Object.entries(await openElsewhere(server))) {
    for (const [index, writer] of [ours, theirs].entries()) {
      const prefix = `${name} ${index}`;
      for (const [at, key] of KEYS.entries()) {
        const value = VALUES[at % VALUES.length];
        assert((await writer.atomic().set([prefix, ...key], value).commit()).ok);
      }
      const read = await everything(ours, prefix);
      assertEquals(read.length, KEYS.length);
      assertEquals(read, await everything(theirs, prefix), name);
    }
    theirs.close();
  }
  ours.close();
});

Deno.test("list() of a remote store pages through ranges as Deno does", async () => {
  await using server = KvConnectServer.start();
  const ours = await open(server);
  const { "Deno.openKv": theirs, ...others } = await openElsewhere(server);
  for (const other of Object.values(others)) other.close();
  const size = (index: number) => index % 7 === 0 ? 60_000 : 10;
  for (let from = 0; from < 700; from += 70) {
    const atomic = ours.atomic();
    for (let index = from; index < from + 70; index++) {
      atomic.set(["e", index], new Uint8Array(size(index)));
    }
    assert((await atomic.commit()).ok);
  }
  const selectors = [
    { prefix: ["e"] },
    { prefix: ["e"], start: ["e", 123] },
    { prefix: ["e"], end: ["e", 123] },
    { start: ["e", 5], end: ["e", 600] },
    { prefix: ["nothing"] },
  ];
  for (const selector of selectors) {
    for (
      const options of [{}, { batchSize: 7 }, { limit: 61 }, { reverse: true, batchSize: 100 }]
    ) {
      const keys = async (kv: Kv) => {
        const found: unknown[] = [];
        for await (const entry of kv.list(selector, options)) found.push(entry.key.at(-1));
        return found;
      };
      assertEquals(await keys(ours), await keys(theirs!), JSON.stringify([selector, options]));
    }
  }
  theirs!.close();
  ours.close();
});

Deno.test("commit() to a remote store holds its checks and writes all or nothing", async () => {
  await using server = KvConnectServer.start();
  const kv = await open(server);
  const first = await kv.atomic().check({ key: ["a"], versionstamp: null }).set(["a"], 1).commit();
  assert(first.ok && first.versionstamp !== undefined);
  const late = await kv.atomic().check({ key: ["a"], versionstamp: null }).set(["a"], 2)
    .set(["b"], 2).commit();
  assertEquals(late, { ok: false });
  assertEquals((await kv.get(["b"])).versionstamp, null);
  const next = await kv.atomic().check({ key: ["a"], versionstamp: first.versionstamp })
    .set(["b"], 2).set(["b"], 3).delete(["a"]).commit();
  assert(next.ok && next.versionstamp! > first.versionstamp);
  assertEquals((await kv.get(["b"])).value, 3);
  assertEquals((await kv.get(["a"])).versionstamp, null);
  kv.close();
});

Deno.test("commit() whose answer was lost says that it was done, and is done once", async () => {
  await using server = KvConnectServer.start();
  const kv = await open(server);
  const faults = ["lose", { status: 503 }, undefined] as const;
  let call = 0;
  server.fault = ({ call: name }) => name === "atomic_write" ? faults[call++] : undefined;
  const done = await kv.atomic().check({ key: ["a"], versionstamp: null })
    .set(["a"], { next: 1 }).set(["e", 0], new Uint8Array([7])).commit();
  assertEquals(call, 3);
  assertEquals(server.commits, 1);
  assertEquals(done, { ok: true, versionstamp: (await kv.get(["a"])).versionstamp! });
  kv.close();
});

Deno.test("commit() whose answer was lost is a conflict where somebody else was faster", async () => {
  await using server = KvConnectServer.start();
  const kv = await open(server);
  const other = await open(server);
  let held = true;
  const gate = Promise.withResolvers<void>();
  server.fault = ({ call }) => {
    if (call !== "atomic_write" || !held) return undefined;
    gate.resolve();
    return { status: 503 };
  };
  const mine = kv.atomic().check({ key: ["a"], versionstamp: null }).set(["a"], 1).commit();
  await gate.promise;
  held = false;
  assert((await other.atomic().set(["a"], 2).commit()).ok);
  assertEquals(await mine, { ok: false });
  assertEquals((await kv.get(["a"])).value, 2);
  kv.close();
  other.close();
});

Deno.test("a call to a server that is gone fails in time, and nothing of it comes later", async () => {
  await using server = KvConnectServer.start();
  const kv = await open(server, { timeoutMs: 300 });
  await server.stop();
  const start = performance.now();
  const error = await assertRejects(
    () => kv.atomic().set(["late"], 1).commit(),
    StoreUnavailableError,
    `Cannot reach the session store at ${server.url}: `,
  );
  assert(performance.now() - start < 2_000);
  assertEquals(error.message.includes("\n"), false);
  await assertRejects(() => kv.get(["late"]), StoreUnavailableError);
  const seen = server.requests.length;
  server.resume();
  assertEquals((await kv.get(["late"])).versionstamp, null);
  // Only the read: with a token of its own, as that of before the restart is refused.
  const calls = server.requests.slice(seen).map(({ call }) => call);
  assertEquals(calls, ["snapshot_read", "metadata", "snapshot_read"]);
  kv.close();
});

Deno.test("a call rides out a restart of the server", async () => {
  await using server = KvConnectServer.start();
  const kv = await open(server);
  const gate = Promise.withResolvers<void>();
  server.fault = () => {
    gate.resolve();
    return { status: 502 };
  };
  const written = kv.atomic().check({ key: ["a"], versionstamp: null }).set(["a"], 1).commit();
  await gate.promise;
  await server.stop();
  server.fault = undefined;
  server.resume();
  assert((await written).ok);
  assertEquals(server.commits, 1);
  kv.close();
});

Deno.test("a call to a server that never answers fails in time; close() ends it at once", async () => {
  await using server = KvConnectServer.start();
  const hasty = await open(server, { timeoutMs: 200 });
  const patient = await open(server, { timeoutMs: 60_000 });
  server.fault = () => "hang";
  await assertRejects(() => hasty.get(["a"]), StoreUnavailableError, "the server does not answer");
  const pending = patient.get(["a"]);
  patient.close();
  await assertRejects(() => pending, StoreUnavailableError, "the store was closed");
  hasty.close();
});

Deno.test("metadata that ran out is fetched again", async () => {
  await using server = KvConnectServer.start({ expiresIn: 60_000 });
  let now = Date.now();
  const kv = await open(server, { now: () => now });
  await kv.get(["a"]);
  now += 55_000;
  await kv.get(["a"]);
  const calls = server.requests.map(({ call }) => call);
  assertEquals(calls, ["metadata", "snapshot_read", "metadata", "snapshot_read"]);
  kv.close();
});

Deno.test("openKv() speaks version 2 of the protocol, and says so when a server speaks another", async () => {
  await using second = KvConnectServer.start({ versions: [1, 2] });
  const kv = await open(second);
  assert((await kv.atomic().set(["a"], 1).commit()).ok);
  assertEquals(second.requests.at(-1)?.headers.get("x-denokv-version"), "2");
  kv.close();
  await using first = KvConnectServer.start({ versions: [1] });
  await assertRejects(() => open(first), StoreOpenError, "Could not negotiate a protocol version");
  await using later = KvConnectServer.start({ versions: [4], careless: true });
  await assertRejects(() => open(later), StoreOpenError, "version 4 of KV Connect");
});

Deno.test("openKv() says what is wrong with a server, and never the token", async (t) => {
  const secret = "sk-very-secret-token";
  await using server = KvConnectServer.start();
  await using listener = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      switch (new URL(request.url).pathname) {
        case "/page":
          return new Response("<html>hello</html>", { headers: { "content-type": "text/html" } });
        case "/missing":
          return new Response("<html>\nno</html>", { status: 404 });
        case "/loop":
          return new Response(null, { status: 307, headers: { location: "/loop" } });
        case "/away":
          return new Response(null, {
            status: 307,
            headers: { location: "https://other.invalid/" },
          });
        default:
          return new Response(`you sent ${request.headers.get("authorization")}`, { status: 400 });
      }
    },
  );
  const other = `http://127.0.0.1:${listener.addr.port}`;
  const free = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const closed = `http://127.0.0.1:${free.addr.port}`;
  free.close();
  const token = new Secret(secret);
  const cases: readonly (readonly [string, string, RegExp, OpenKvOptions?])[] = [
    ["a malformed URL", "https://", /its URL is invalid$/],
    ["a bad port", "https://host:99999", /its URL is invalid$/],
    ["http elsewhere", "http://example.com/db", /example\.com\/db: its URL must be https/],
    ["a host like loopback", "http://127.0.0.1.example.com", /must be https/],
    ["a password in the URL", `https://u:${secret}@host/`, /must hold no user and no password/],
    ["no token", server.url, /DENO_KV_ACCESS_TOKEN must hold its token$/, {}],
    ["an empty token", server.url, /DENO_KV_ACCESS_TOKEN must hold/, { token: new Secret("") }],
    [
      "a token that is no header",
      server.url,
      /must be printable ASCII without spaces$/,
      { token: new Secret(`${secret}\n`) },
    ],
    ["a refused token", server.url, /refused the token of DENO_KV_ACCESS_TOKEN \(status 401/],
    ["a closed port", `${closed}/?key=${secret}`, /Connection refused|refused/],
    [
      "an unknown host",
      `https://nowhere.invalid/?key=${secret}`,
      /nowhere\.invalid: .*(dns|lookup)/,
    ],
    ["no TLS", server.url.replace("http:", "https:"), /https:\/\/127\.0\.0\.1:\d+: .+/],
    ["a web page", `${other}/page`, /no KV Connect server is there/],
    ["a missing page", `${other}/missing`, /answered with status 404$/],
    ["a redirect loop", `${other}/loop`, /redirects more than 5 times/],
    ["a redirect elsewhere", `${other}/away`, /redirects to https:\/\/other\.invalid$/],
    ["a server that repeats the token", `${other}/echo`, /status 400: you sent Bearer \[secret\]/],
  ];
  for (const [name, url, message, options = { token }] of cases) {
    await t.step(name, async () => {
      const error = await assertRejects(
        () => openKv(url, { timeoutMs: 5_000, ...options }),
        StoreOpenError,
      );
      const shown = Deno.inspect(error, { depth: 9 });
      assert(message.test(error.message), error.message);
      assertEquals(shown.includes(secret), false, shown);
      assertEquals(error.message.includes("\n"), false);
    });
  }
});

Deno.test("a token that is refused later ends a call at once", async () => {
  await using server = KvConnectServer.start();
  const kv = await open(server, { timeoutMs: 60_000 });
  const { token } = server;
  server.token = "another-token";
  await server.stop();
  server.resume();
  const error = await assertRejects(() => kv.get(["a"]), StoreUnavailableError);
  assertStringIncludes(error.message, "refused the token");
  assertEquals(error.message.includes(token), false);
  server.token = token;
  assertEquals((await kv.get(["a"])).versionstamp, null);
  kv.close();
});
