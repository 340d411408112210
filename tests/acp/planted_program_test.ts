import { assert, assertEquals, assertLess } from "@std/assert";
import { processesLeft } from "../helpers/processes.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

/** A program that proves that it ran where no sandbox held it. */
function planted(proof: string, real: string): string {
  return `#!/bin/sh\n: > '${proof}'\nexec ${real} "$@"\n`;
}

for (const kind of ["absolute", "relative"] as const) {
  Deno.test(`programs that stand in the workspace are not started outside the sandbox, PATH ${kind}`, async () => {
    await using model = ModelServer.start([
      answer(call("c1", "bash", { command: "echo hi", description: "Say hi" })),
      answer(call("c2", "grep", { pattern: "hi" }), call("c3", "glob", { pattern: "*" })),
      answer(text("ok")),
    ]);
    await using agent = await startAgent({ model });
    const folder = agent.path(".venv/bin");
    await Deno.mkdir(folder, { recursive: true });
    const proof = `${agent.home}/proof`;
    for (const [name, real] of [["bwrap", "/usr/bin/bwrap"], ["rg", "/usr/bin/rg"]] as const) {
      await Deno.writeTextFile(`${folder}/${name}`, planted(`${proof}-${name}`, real), {
        mode: 0o755,
      });
    }
    for (const [name, real] of [["bash", "/bin/bash"], ["setsid", "/usr/bin/setsid"]] as const) {
      await Deno.writeTextFile(`${folder}/${name}`, planted(`${proof}-${name}`, real), {
        mode: 0o755,
      });
    }
    const PATH = `${kind === "absolute" ? folder : ".venv/bin"}:${agent.env["PATH"]}`;
    const client = await agent.spawn({ env: { ...agent.env, PATH } });
    const sessionId = await client.newSession(agent.workspace);
    const answered = await client.prompt(sessionId, "go");
    assertEquals(answered.type, "result", JSON.stringify(answered));
    const found = Array.from(Deno.readDirSync(agent.home), ({ name }) => name)
      .filter((name) => name.startsWith("proof"));
    assertEquals(found, []);
  });
}

Deno.test("a bubblewrap that hangs neither holds a cancel nor stays behind", async () => {
  await using model = ModelServer.start([
    answer(call("c1", "bash", { command: "echo hi", description: "Say hi" })),
  ]);
  await using agent = await startAgent({ model });
  const mark = `67${Math.floor(Math.random() * 1e9)}`;
  const folder = `${agent.home}/bin`;
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/bwrap`, `#!/bin/sh\nsleep ${mark}\n`, { mode: 0o755 });
  const client = await agent.spawn({
    env: { ...agent.env, PATH: `${folder}:${agent.env["PATH"]}` },
  });
  const sessionId = await client.newSession(agent.workspace);
  const pending = client.prompt(sessionId, "go");
  await model.request(0);
  const from = performance.now();
  await client.notify("session/cancel", { sessionId });
  const answered = await pending;
  assert(answered.type === "result", JSON.stringify(answered));
  assertEquals(answered.result, { stopReason: "cancelled" });
  assertLess(answered.at - from, 2_000);
  // The probe gives up after five seconds; its answer is the next prompt's.
  await client.prompt(sessionId, "!echo on");
  assertEquals(await processesLeft(mark), []);
});
