import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client } from "@modelcontextprotocol/client";
import { ProcessTransport } from "../../../tools/mcp/process_transport.ts";

const EVERYTHING = "npm:@modelcontextprotocol/server-everything@2026.8.31";

const cached = await new Deno.Command(Deno.execPath(), {
  args: ["cache", "--no-lock", EVERYTHING],
  stdout: "null",
  stderr: "null",
  env: { NO_COLOR: "1" },
}).output();
// Without npm there is no reference server to talk to.
const ignore = !cached.success;
if (ignore) {
  Deno.stderr.writeSync(
    new TextEncoder().encode(`skipped: ${EVERYTHING} cannot be fetched from npm\n`),
  );
}

function everything(): ProcessTransport {
  return new ProcessTransport({
    command: Deno.execPath(),
    args: ["run", "-A", "--no-lock", EVERYTHING, "stdio"],
    env: Deno.env.toObject(),
    cwd: Deno.cwd(),
  });
}

Deno.test({
  name: "a server is listed, called and ended",
  ignore,
  async fn() {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(everything());
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    assert(names.includes("echo"), names.join());
    const result = await client.callTool({ name: "echo", arguments: { message: "hi" } });
    assertEquals(result.content, [{ type: "text", text: "Echo: hi" }]);
    await client.close();
  },
});

Deno.test("a server is not started once its session is over", async () => {
  const transport = new ProcessTransport({
    command: "true",
    args: [],
    env: { PATH: Deno.env.get("PATH") ?? "" },
    cwd: Deno.cwd(),
  });
  await transport.close();
  await assertRejects(() => transport.start(), Error, "the session has ended");
});

Deno.test("closing ends a server that ignores it, and what it started", async () => {
  const { promise: pid, resolve } = Promise.withResolvers<number>();
  const transport = new ProcessTransport({
    command: "bash",
    args: ["-c", "trap '' TERM; sleep 1000 & echo $! >&2; while :; do wait; done"],
    env: { PATH: Deno.env.get("PATH") ?? "" },
    cwd: Deno.cwd(),
    log: (text) => resolve(Number(text)),
  });
  await transport.start();
  const child = await pid;
  await transport.close();
  assertEquals(await isRunning(child), false);
});

for (
  const [script, end] of [
    ["exit 0", "code 0"],
    ["kill -KILL $$", "SIGKILL"],
    ["kill -34 $$", "Invalid signal: 34"],
  ] as const
) {
  Deno.test(`a server that ends by itself closes the transport: ${end}`, async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const transport = new ProcessTransport({
      command: "bash",
      args: ["-c", script],
      env: { PATH: Deno.env.get("PATH") ?? "" },
      cwd: Deno.cwd(),
    });
    transport.onclose = resolve;
    await transport.start();
    await closed;
    assertEquals(transport.endedBy, `its process ended with ${end}`);
  });
}

/** Whether a process runs; one that was killed and waits for a parent to reap it does not. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}
