import { assert, assertEquals } from "@std/assert";
import { startAgent } from "../helpers/start_agent.ts";

Deno.test("stdout carries frames only, whatever a library prints, through shutdown", async () => {
  const root = new URL("../../", import.meta.url);
  const noise = new URL("tests/fixtures/noise.ts", root).href;
  const program = new URL("mod.ts", root).href;
  const command = [Deno.execPath(), "run", "-A", "--no-lock", "--preload", noise, program];
  await using agent = await startAgent({ client: { command } });
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(
    sessionId,
    "!for i in 1 2 3; do echo $i; sleep 0.1; done",
  );
  assertEquals(answered.type, "result");
  const { code } = await agent.client.close();
  assertEquals(code, 0);
  assertEquals(agent.client.problems, []);
  for (const frame of agent.client.frames) assertEquals(frame.message?.["jsonrpc"], "2.0");
  const printed = agent.client.stderr.join("\n");
  for (const source of ["console.log", "console.info", "process.stdout", "Deno.stdout"]) {
    assert(printed.includes(`noise from ${source}`), `${source} did not print: the test is void`);
  }
});

Deno.test("an invalid flag is one line on stderr and exit code 2", async () => {
  const program = new URL("../../mod.ts", import.meta.url).pathname;
  for (
    const [args, words] of [
      [["--modle", "x"], 'unknown option "--modle"'],
      [["docter"], 'unknown command "docter"'],
      [["--kv"], "--kv needs a value"],
      [["--permission-mode", "yolo"], 'must be workspace-write or danger-full-access; got "yolo"'],
    ] as const
  ) {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", program, ...args],
      stdin: "null",
    }).output();
    assertEquals(code, 2);
    assertEquals(new TextDecoder().decode(stdout), "");
    const lines = new TextDecoder().decode(stderr).trimEnd().split("\n");
    assertEquals(lines.length, 1, lines.join("\n"));
    assert(lines[0]?.includes(words), lines[0]);
  }
});

Deno.test("DSH_LOG=debug writes what was answered to stderr, and nothing of the contents", async () => {
  await using agent = await startAgent({ env: { DSH_LOG: "debug" } });
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "!echo private");
  await agent.client.request("session/close", { sessionId: "nobody" });
  await agent.client.close();
  const log = agent.client.stderr.join("\n");
  assert(/dsh-acp: session\/prompt \(\d+\): answered in \d+ ms/.test(log), log);
  assert(/dsh-acp: session\/close \(\d+\): error -32602 in \d+ ms/.test(log), log);
  assert(!log.includes("private"));
});

Deno.test("--kv needs no HOME, and its folder is made", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const kv = `${folder}/not/yet/there.kv`;
    await using agent = await startAgent({
      env: { HOME: undefined, XDG_DATA_HOME: undefined, DSH_KV: kv },
    });
    const sessionId = await agent.newSession();
    assertEquals((await agent.client.prompt(sessionId, "!true")).type, "result");
    assert((await Deno.stat(kv)).isFile);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
