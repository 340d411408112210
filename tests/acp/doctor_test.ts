import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ModelServer } from "../helpers/model_server.ts";
import { pathWithoutBwrap } from "../helpers/path_without_bwrap.ts";
import { type CommandEnd, runCommand } from "../helpers/run_command.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const KEY = "sk-not-to-be-seen";

/** An empty home, and `doctor` run in it under these permissions. */
async function consult(
  env: Readonly<Record<string, string>>,
  options: {
    readonly flags?: readonly string[];
    readonly args?: readonly string[];
    /** Before the program runs. */
    readonly prepare?: (data: string) => Promise<void>;
    /** Before the home is removed. */
    readonly then?: (data: string) => Promise<void>;
  } = {},
): Promise<CommandEnd> {
  const home = await Deno.realPath(await Deno.makeTempDir({ prefix: "dsh-acp-test-" }));
  const data = join(home, "dsh-acp");
  const surroundings = Deno.env.toObject();
  for (const name of Object.keys(surroundings)) {
    if (/^(?:DSH|DEEPSEEK|OPENAI|ANTHROPIC)_/.test(name)) delete surroundings[name];
  }
  try {
    await options.prepare?.(data);
    const flags = (options.flags ?? ["-A"]).map((flag) => flag.replace("{data}", data));
    const args = (options.args ?? []).map((arg) => arg.replace("{data}", data));
    const end = await runCommand(["doctor", ...args], {
      env: { ...surroundings, XDG_DATA_HOME: home, ...env },
      cwd: home,
      command: [Deno.execPath(), "run", "--no-lock", ...flags, join(ROOT, "mod.ts")],
    });
    await options.then?.(data);
    return end;
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** The line of a check: its level and its text. */
function line({ text }: CommandEnd, name: string): string {
  const found = text.split("\n").find((one) => one.slice(6).startsWith(name));
  assert(found !== undefined, `no line about ${name} in ${text}`);
  return found;
}

function provider(respond: (request: Request) => Response | Promise<Response>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, respond);
  return {
    env: { DEEPSEEK_BASE_URL: `http://127.0.0.1:${server.addr.port}`, DEEPSEEK_API_KEY: KEY },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("doctor: one line for each check, nothing written, exit code 0 where all is well", async () => {
  await using model = ModelServer.start();
  const env = {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: KEY,
    DSH_MODEL: "openai/scripted",
  };
  const end = await consult(env, {
    async then(data) {
      assertEquals(await Deno.stat(data).then(() => true, () => false), false);
    },
  });
  assertEquals(end.code, 0, end.text);
  for (const one of end.text.trimEnd().split("\n")) assertMatch(one, /^(?:ok|warn) {1,4}\S.*\S$/);
  assertMatch(line(end, "program"), /Deno \d+\.\d+/);
  assertMatch(line(end, "permissions"), /^ok .*everything/);
  assertMatch(line(end, "sessions"), /^ok .*none yet/);
  assertMatch(line(end, "model"), /^ok .*openai\/scripted: 127\.0\.0\.1:\d+ answers$/);
  assertEquals(end.text.includes(KEY), false);
});

Deno.test("doctor: a model that the server does not list is a warning", async () => {
  await using model = ModelServer.start();
  const end = await consult({ OPENAI_BASE_URL: model.url, DSH_MODEL: "openai/other" });
  assertMatch(line(end, "model"), /^warn .*does not list this model/);
});

Deno.test("doctor: a refused key is said so and not shown", async () => {
  const keys: (string | null)[] = [];
  await using server = provider((request) => {
    keys.push(request.headers.get("authorization"));
    return Response.json({ error: { message: `bad key ${KEY}` } }, { status: 401 });
  });
  const end = await consult(server.env);
  assertEquals(end.code, 1);
  assertEquals(keys, [`Bearer ${KEY}`]);
  assertMatch(line(end, "model"), /^fail .*refused the key \(401\): check DEEPSEEK_API_KEY/);
  assertEquals(`${end.text}${end.stderr}`.includes(KEY), false);
});

Deno.test("doctor: a provider that redirects does not send the key elsewhere", async () => {
  let asked = 0;
  await using other = provider(() => {
    asked++;
    return Response.json({});
  });
  await using server = provider(() => Response.redirect(other.env.DEEPSEEK_BASE_URL));
  const end = await consult(server.env);
  assertMatch(line(end, "model"), /^fail .*answers 302: check DEEPSEEK_BASE_URL/);
  assertEquals(asked, 0);
});

Deno.test("doctor: a provider that hangs holds nobody up", async () => {
  const gone = Promise.withResolvers<Response>();
  await using server = provider(() => gone.promise);
  const end = await consult(server.env);
  gone.resolve(new Response());
  assertEquals(end.code, 1);
  assertMatch(line(end, "model"), /^fail .*no answer within 5 s/);
});

Deno.test("doctor: a provider that is not there is told in words", async () => {
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = closed.addr;
  closed.close();
  for (
    const [url, words] of [
      [`http://127.0.0.1:${port}`, "the connection was refused"],
      ["http://nowhere.invalid", "the host name was not found"],
    ] as const
  ) {
    const end = await consult({ DEEPSEEK_API_KEY: KEY, DEEPSEEK_BASE_URL: url });
    assertEquals(end.code, 1);
    assertStringIncludes(line(end, "model"), `does not answer (${words})`);
  }
});

Deno.test("doctor: without a model, and with settings that are wrong", async () => {
  const end = await consult({ DSH_LOG: "loud" });
  assertEquals(end.code, 1);
  assertMatch(line(end, "settings"), /^fail .*DSH_LOG must be debug or off; got "loud"/);
  assertMatch(line(end, "model"), /^fail .*DEEPSEEK_API_KEY/);
  assertMatch(line(end, "program"), /^ok/);
});

Deno.test("doctor: a store that cannot be opened", async () => {
  const end = await consult({}, {
    async prepare(data) {
      await Deno.mkdir(data);
      await Deno.writeTextFile(
        join(data, "sessions.kv"),
        "no database, but long enough ".repeat(99),
      );
    },
  });
  assertMatch(line(end, "data folder"), /^ok/);
  assertMatch(line(end, "sessions"), /^fail .*cannot open/);
});

Deno.test("doctor: a store that cannot be made", async () => {
  let file = "";
  const end = await consult({}, {
    args: ["--kv={data}/file/sessions.kv"],
    async prepare(data) {
      file = join(data, "file");
      await Deno.mkdir(data);
      await Deno.writeTextFile(file, "");
    },
  });
  assertEquals(end.code, 1);
  assertMatch(line(end, "sessions"), /^fail .*cannot (?:make|write).*--kv/);
  assert(line(end, "sessions").includes(file));
});

Deno.test("doctor: a data folder where a file stands", async () => {
  const end = await consult({}, { prepare: (data) => Deno.writeTextFile(data, "") });
  assertMatch(line(end, "data folder"), /^fail .*--kv/);
});

Deno.test({
  name: "doctor: no bubblewrap is a warning that says how to get it",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "dsh-acp-test-" });
    try {
      const end = await consult({ PATH: await pathWithoutBwrap(`${folder}/bin`) });
      assertMatch(line(end, "commands"), /^warn .*apt install bubblewrap/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("doctor: under no permission at all it says what to grant first", async () => {
  const end = await consult({}, { flags: ["--no-prompt"] });
  assertEquals(end.code, 1);
  assertMatch(line(end, "permissions"), /^fail .*add --allow-read$/);
  assertStringIncludes(end.text, "fail");
  assertEquals(end.stderr.includes("Uncaught"), false, end.stderr);
});

Deno.test("doctor: with reading alone, each thing that is not granted is named", async () => {
  const end = await consult({}, { flags: ["--no-prompt", "--allow-read"] });
  assertEquals(end.code, 1);
  assertMatch(line(end, "permissions"), /^warn .*read-only review.*--allow-env/);
  assertMatch(line(end, "commands"), /^warn .*--allow-run=bwrap/);
  assertMatch(line(end, "search"), /^warn .*--allow-run=rg/);
  assertMatch(line(end, "settings"), /^fail .*HOME must be set/);
});

Deno.test("doctor: under the default set", async () => {
  const end = await consult({ DEEPSEEK_API_KEY: KEY, DEEPSEEK_BASE_URL: "http://127.0.0.1:9" }, {
    flags: ["-P", "--allow-write={data}", "--no-prompt"],
  });
  assertMatch(line(end, "permissions"), /^ok .*full access is not offered/);
  assertMatch(line(end, "data folder"), /^ok/);
  assertMatch(
    line(end, "model"),
    /^fail .*Deno may not reach 127\.0\.0\.1:9: add it to --allow-net/,
  );
});

Deno.test("doctor: arguments are refused", async () => {
  const end = await consult({}, { args: ["now"] });
  assertEquals([end.code, end.text], [2, ""]);
  assertStringIncludes(end.stderr, 'doctor takes no arguments; got "now"');
});
