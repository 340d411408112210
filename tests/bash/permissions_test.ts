import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SandboxProbe } from "../../bash/sandbox/probe.ts";
import { NAMESPACE, run, uniqueSeconds } from "./_helpers.ts";

// The default permission set: of all programs only the sandbox runner, and no look at /proc.
const SANDBOX_ONLY: Deno.PermissionOptions = {
  read: ["/tmp"],
  run: ["bwrap"],
  write: false,
  env: false,
};

Deno.test({
  name: "a sandboxed command needs no other permission than bubblewrap's",
  permissions: SANDBOX_ONLY,
  fn: async () => {
    assertEquals((await new SandboxProbe({ os: "linux" }).runner()).type, "bubblewrap");
    const result = await run("echo ok; kill -9 $$", { containment: NAMESPACE });
    assertEquals(result.text, "ok\n");
    assertEquals(result.exit, { type: "signaled", signal: "SIGKILL" });
  },
});

Deno.test({
  name: "leftovers end without permission to see or signal them",
  permissions: SANDBOX_ONLY,
  fn: async () => {
    const seconds = uniqueSeconds();
    const start = performance.now();
    const result = await run(`setsid sleep ${seconds} & echo ok`, { containment: NAMESPACE });
    assertEquals(result.text, "ok\n");
    assert(result.endedLeftovers);
    assert(performance.now() - start < 2_000);
    const late = await run("exec > >(sleep 0.1; cat); echo late", { containment: NAMESPACE });
    assertEquals(late.text, "late\n");
  },
});

Deno.test({
  name: "a command is stopped without permission to signal it, then without grace",
  permissions: SANDBOX_ONLY,
  fn: async () => {
    const result = await run("trap '' TERM; sleep 60", { containment: NAMESPACE, timeoutMs: 100 });
    assertEquals(result.exit, { type: "signaled", signal: "SIGKILL" });
    assertEquals(result.timedOutAfterMs, 100);
  },
});

Deno.test({
  name: "a denied permission is a result, not an exception",
  permissions: { run: false, read: true },
  fn: async () => {
    const result = await run("true");
    assert(result.exit.type === "spawn_failed");
    assertStringIncludes(result.exit.message, "run access");
    const runner = await new SandboxProbe({ os: "linux" }).runner();
    assert(runner.type === "none");
    assertStringIncludes(runner.reason, "may not run bwrap");
  },
});
