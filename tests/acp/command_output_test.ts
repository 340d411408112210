import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { member, terminalOutput } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

interface Shown {
  /** All terminal output the card received. */
  readonly output: string;
  readonly updates: readonly JsonObject[];
  /** What the model was sent of it. */
  readonly told: string;
  /** The bytes of all frames of the session. */
  readonly wire: number;
}

/** Lets the model run a command, and tells what the client and the model saw. */
async function run(command: string, env: Record<string, string> = {}): Promise<Shown> {
  await using model = ModelServer.start([
    answer(call("c1", "bash", { command, description: "Run it" })),
    answer(text("ok")),
  ]);
  await using agent = await startAgent({ model, env });
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(sessionId, "go");
  assertEquals(answered.type, "result", JSON.stringify(answered));
  const updates = agent.client.updatesOf(sessionId);
  const { messages } = model.requests[1]!.body as { messages: { role: string; content: string }[] };
  const encoder = new TextEncoder();
  return {
    output: terminalOutput(updates),
    updates,
    told: messages.find(({ role }) => role === "tool")!.content,
    wire: agent.client.updates.reduce((sum, { line }) => sum + encoder.encode(line).length, 0),
  };
}

Deno.test("the last line of a long output precedes the exit", async () => {
  const { output, updates, told } = await run("seq 200000");
  assert(output.endsWith("199999\n200000\n"));
  const exit = updates.findIndex((update) =>
    member(update, "_meta", "terminal_exit")["exit_code"] === 0
  );
  assert(exit > 0);
  assertEquals(terminalOutput(updates.slice(exit + 1)), "");
  assert(told.startsWith("1\n2\n3\n") && told.endsWith("199999\n200000\n"));
  assertLess(told.length, 70_000);
});

Deno.test("stdout and stderr keep their order", async () => {
  const { output, told } = await run("echo 1; echo 2 >&2; echo 3; echo 4 >&2");
  assertEquals(output, "1\n2\n3\n4\n");
  assertEquals(told, "1\n2\n3\n4\n");
});

Deno.test("characters written byte by byte arrive exact", async () => {
  const script = "import os\nb='終'.encode()\nfor i in range(50000):\n" +
    " os.write(1,b[:1]); os.write(1,b[1:2]); os.write(1,b[2:])";
  const { output } = await run(`python3 -c "${script}"`);
  assert(output === "終".repeat(50_000), `${output.length} characters`);
});

Deno.test("invalid bytes become U+FFFD and every frame is valid", async () => {
  const { output, told } = await run("printf '\\xff\\xfeok'");
  assertEquals(output, "\ufffd\ufffdok");
  assertEquals(told, "\ufffd\ufffdok");
});

Deno.test("20 MB of output are bounded on the wire, and the card says what it left out", async () => {
  const { output, wire, told } = await run(
    "yes 0123456789abcdef | head -c 20000000; echo; echo end",
  );
  const cap = (512 + 64) * 1024;
  assertLess(output.length, cap + 200);
  // Every newline is two bytes in JSON; each frame has a head of its own.
  assertLess(wire, cap * 1.2 + 64 * 1024);
  assert(output.endsWith("\nend\n"));
  assert(/\d[\d,]* bytes/.test(output.slice(500_000, 530_000)), "the number left out is missing");
  assertStringIncludes(told, "full output");
});

Deno.test("carriage returns are raw on the card and one line for the model", async () => {
  const { output, told } = await run(
    "for ((i = 1; i <= 10000; i++)); do printf '\\r%d%%' $i; done; printf '\\n'",
  );
  assertEquals(output.split("\r").length - 1, 10_000);
  assertEquals(told, "10000%\n");
});

Deno.test("colours stay on the card and are not told to the model", async () => {
  const { output, told } = await run("printf '\\033[1;31mred\\033[0m plain\\n'");
  assertEquals(output, "\x1b[1;31mred\x1b[0m plain\n");
  assertEquals(told, "red plain\n");
});

Deno.test("the environment of a command holds no secret, and what commands need", async () => {
  const secrets = {
    MY_API_KEY: "hidden-1",
    AWS_SECRET_ACCESS_KEY: "hidden-2",
    GITHUB_TOKEN: "hidden-3",
    DB_PASSWORD: "hidden-4",
    GOOGLE_APPLICATION_CREDENTIALS: "hidden-5",
    npm_config_authtoken: "hidden-6",
    DSH_ANYTHING: "hidden-7",
    LANG: "C.UTF-8",
    PLAIN: "visible",
  };
  const { output } = await run("env", secrets);
  assert(!output.includes("hidden-"), output);
  assert(!/^DSH_/m.test(output), output);
  assert(!/^[A-Z_]*(KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL)[A-Z_]*=/im.test(output), output);
  for (const name of ["PATH=", "HOME=", "LANG=C.UTF-8", "PLAIN=visible", "PAGER=cat"]) {
    assertStringIncludes(`\n${output}`, `\n${name}`);
  }
});

Deno.test("a cancelled command keeps its lines, and the model learns of it", async () => {
  await using model = ModelServer.start([
    answer(
      call("c1", "bash", { command: "echo 1; echo 2; echo 3; sleep 60", description: "Wait" }),
    ),
    answer(text("ok")),
  ]);
  await using agent = await startAgent({ model });
  const { client } = agent;
  const sessionId = await agent.newSession();
  const pending = client.prompt(sessionId, "go");
  await client.until(
    () => terminalOutput(client.updatesOf(sessionId)) === "1\n2\n3\n" || undefined,
    "three lines",
  );
  await client.notify("session/cancel", { sessionId });
  const answered = await pending;
  assert(answered.type === "result");
  assertEquals(answered.result, { stopReason: "cancelled" });
  assertEquals(client.updatesOf(sessionId, answered.index), []);
  assertEquals(terminalOutput(client.updatesOf(sessionId)), "1\n2\n3\n");
  const last = client.updatesOf(sessionId).findLast((update) => "status" in update);
  assertEquals(last?.["status"], "failed");
  assertEquals(last?.["content"], undefined);
  await client.prompt(sessionId, "what happened?");
  const told = JSON.stringify(model.requests[1]?.body);
  assertStringIncludes(told, "1\\n2\\n3\\n");
  assertStringIncludes(told, "interrupted");
});
