import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { registerBashTools } from "../../bash/bash_tool.ts";
import type { BashSession } from "../../bash/bash_session.ts";
import { SandboxProbe } from "../../bash/sandbox/probe.ts";
import { loadShellParser } from "../../bash/shell_parser.ts";
import { ToolRegistry } from "../../tools/tool_registry.ts";
import type { ResultView } from "../../tools/presentation.ts";
import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import type { ToolContext, ToolResult } from "../../tools/tool.ts";
import {
  contextFor,
  ENV,
  policyFor,
  TempFolder,
  uniqueSeconds,
  waitUntilGone,
} from "./_helpers.ts";

const parser = await loadShellParser();
const PROBE = new SandboxProbe({ os: "linux" });
const NO_PROBE = new SandboxProbe({ os: "linux", bwrap: "/nowhere/bwrap" });

/** A session's tools in a workspace of their own. */
class Session implements AsyncDisposable {
  readonly folder = new TempFolder();
  readonly root = this.folder.folder("workspace");
  readonly temp = this.folder.folder("temp");
  readonly tools = new ToolRegistry();
  readonly bash: BashSession;
  readonly policy: SandboxPolicy;

  constructor(probe: SandboxProbe = PROBE, more: Partial<SandboxPolicy> = {}) {
    const options = { env: ENV, probe, tempRoot: this.temp, parser };
    this.bash = registerBashTools(this.tools, options);
    this.policy = policyFor(this.root, "workspace-write", more);
  }

  async call(
    name: string,
    args: Record<string, unknown>,
    more: Partial<ToolContext> = {},
  ): Promise<{ text: string; result: ToolResult; view: ResultView }> {
    const raw = JSON.stringify(args);
    const prepared = this.tools.prepare(name, raw);
    const result = prepared.type === "invalid"
      ? prepared.result
      : await prepared.call.execute(contextFor(this.root, this.policy, more));
    const [content] = result.content;
    assert(content?.type === "text");
    return { text: content.text, result, view: this.tools.presentResult(name, raw, result) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tools[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

Deno.test("bash presents a call as the exact command", async () => {
  await using session = new Session();
  const call = (args: unknown) => session.tools.presentCall("bash", JSON.stringify(args));
  assertEquals(call({ command: "make  test", description: "Runs the tests", workdir: "sub" }), {
    type: "terminal",
    title: "make  test",
    description: "Runs the tests",
    cwd: "sub",
  });
  assertEquals(call({ command: "cat a" }).type, "generic");
  assertEquals(call({ command: "cat a", run_in_background: true }).type, "terminal");
});

Deno.test("bash returns text for the model and the terminal's view for the card", async () => {
  await using session = new Session();
  const clean = await session.call("bash", { command: "echo ok" });
  assertEquals(clean.text, "ok\n");
  assertEquals(clean.result.meta, { containment: "bubblewrap" });
  assertEquals(clean.view, { type: "terminal", output: "ok\n", exit: { exitCode: 0 } });
  const coloured = await session.call("bash", {
    command: "printf '\\e[31mred\\e[0m\\n1%%\\r2%%\\n'; exit 3",
  });
  assertEquals(coloured.text, "red\n2%\n\n[exit code: 3]");
  assertEquals(coloured.view, {
    type: "terminal",
    output: "\x1b[31mred\x1b[0m\n1%\r2%\n",
    exit: { exitCode: 3 },
  });
  const empty = await session.call("bash", { command: "true" });
  assertEquals(empty.text, "(no output)");
  assertEquals(empty.view, { type: "terminal", output: "", exit: { exitCode: 0 } });
});

Deno.test("bash reports output that looks like a marker as output", async () => {
  await using session = new Session();
  const { text, view } = await session.call("bash", { command: "printf '[exit code: 1]'" });
  assertEquals(text, "[exit code: 1]\n[exit code: 0]");
  assertEquals(view, { type: "terminal", output: "[exit code: 1]", exit: { exitCode: 0 } });
});

Deno.test("bash shows a signal, a timeout and a cancel as failures", async () => {
  await using session = new Session();
  const killed = await session.call("bash", { command: "kill -9 $$" });
  assertEquals(killed.text, "[killed by signal: SIGKILL]");
  assertEquals(killed.view, { type: "terminal", output: "", exit: { signal: "SIGKILL" } });
  assertEquals(killed.result.isError, false);
  const late = await session.call("bash", {
    command: "trap 'exit 0' TERM; sleep 60 & wait",
    timeoutMs: 100,
  });
  assertEquals(late.text, "[exit code: 0]\n[timed out after 100 ms]");
  const timedOut = "[timed out after 100 ms]\n";
  assertEquals(late.view, { type: "terminal", output: timedOut, exit: { signal: "SIGTERM" } });
  const cancel = new AbortController();
  const cancelled = await session.call(
    "bash",
    { command: "echo 1; echo 2; echo 3; sleep 60" },
    { signal: cancel.signal, output: (text) => text.includes("3") && cancel.abort() },
  );
  assertEquals(cancelled.text, "1\n2\n3\n\n[killed by signal: SIGTERM]\n[interrupted by the user]");
  assertEquals(cancelled.view, {
    type: "terminal",
    output: "1\n2\n3\n",
    exit: { signal: "SIGTERM" },
  });
});

Deno.test("bash streams to terminal cards only", async () => {
  await using session = new Session();
  const streamed: string[] = [];
  const output = (text: string) => void streamed.push(text);
  await session.call("bash", { command: "echo shown" }, { output });
  session.folder.file("workspace/a", "read\n");
  const read = await session.call("bash", { command: "cat a" }, { output });
  assertEquals(streamed.join(""), "shown\n");
  assertEquals(read.text, "read\n");
});

Deno.test("bash runs where it is told and nowhere else", async () => {
  await using session = new Session();
  Deno.mkdirSync(`${session.root}/sub`);
  assertEquals(
    (await session.call("bash", { command: "pwd", workdir: "sub" })).text,
    `${session.root}/sub\n`,
  );
  const missing = await session.call("bash", { command: "pwd", workdir: "missing" });
  assertEquals(missing.result.isError, true);
  assertStringIncludes(missing.text, "workdir must be an existing folder");
  assertEquals(missing.view, { type: "generic" });
  const invalid = await session.call("bash", { command: "pwd", timeoutMs: 0 });
  assertEquals(invalid.result.isError, true);
});

Deno.test("bash keeps the session's temporary files and full outputs, readable in the sandbox", async () => {
  await using session = new Session();
  await session.call("bash", { command: "echo kept > $TMPDIR/file" });
  assertEquals((await session.call("bash", { command: "head -c 9 $TMPDIR/file" })).text, "kept\n");
  const long = await session.call("bash", { command: "seq 100000" });
  const path = long.result.meta?.["fullOutput"];
  assert(typeof path === "string" && long.text.includes(path));
  const again = await session.call("bash", { command: `wc -l < ${path}; : > ${path}` });
  assert(again.text.startsWith("100000\n"));
  assertStringIncludes(again.text, "Read-only file system");
  assertStringIncludes(again.text, "(sandbox: workspace-write");
  await session.tools[Symbol.asyncDispose]();
  assertEquals([...Deno.readDirSync(session.temp)], []);
});

Deno.test("bash runs nothing unfenced that was not approved", async () => {
  await using session = new Session(NO_PROBE);
  const refused = await session.call("bash", { command: "echo x > made" });
  assertEquals(refused.result.isError, true);
  assertStringIncludes(refused.text, "apt install bubblewrap");
  assertEquals([...Deno.readDirSync(session.root)], []);
  const raw = JSON.stringify({ command: "echo x > made" });
  const prepared = session.tools.prepare("bash", raw);
  assert(prepared.type === "ready");
  const verdict = await prepared.call.authorize(contextFor(session.root, session.policy));
  assert(verdict.type === "ask" && verdict.scope === undefined && verdict.policy);
  const result = await prepared.call.execute(contextFor(session.root, verdict.policy));
  assertEquals(result.content, [{
    type: "text",
    text: "(containment: process group, no sandbox)",
  }]);
  assertEquals(Deno.readTextFileSync(`${session.root}/made`), "x\n");
});

Deno.test("bash makes a repository that a command created harmless", async () => {
  await using session = new Session(PROBE);
  const protectedPaths = [`${session.root}/.git/hooks`, `${session.root}/.git/config`];
  const policy = { ...session.policy, protectedPaths };
  const made = await session.call("bash", {
    command: "git init -q && git config core.fsmonitor ./evil && " +
      "printf '#!/bin/sh\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit",
  }, { policy });
  assertEquals(made.text, "(no output)");
  assert(!Deno.readTextFileSync(protectedPaths[1]!).includes("fsmonitor"));
  assertEquals(Deno.statSync(`${protectedPaths[0]}/pre-commit`).mode! & 0o111, 0);
  const next = await session.call("bash", { command: "git config core.fsmonitor ./evil" }, {
    policy,
  });
  assert(next.text.includes("[exit code:"), next.text);
});

Deno.test("background tasks are started, read, listed and ended", async () => {
  await using session = new Session();
  const seconds = uniqueSeconds();
  const started = await session.call("bash", {
    command: `echo begun; (setsid sleep ${seconds} &); sleep ${seconds}`,
    run_in_background: true,
  });
  assertEquals(started.text, "started background task bash-1");
  assertEquals(started.view, { type: "generic" });
  const quick = await session.call("bash", { command: "echo a; exit 3", run_in_background: true });
  assertEquals(quick.text, "started background task bash-2");
  const output = (more: object) => session.call("task_output", more as Record<string, unknown>);
  assertEquals(
    (await output({ task_id: "bash-2", wait: true })).text,
    "a\n[status: failed with exit code 3]",
  );
  assertEquals(
    (await output({ task_id: "bash-2" })).text,
    "(no new output)\n[status: failed with exit code 3]",
  );
  assertEquals((await output({ task_id: "bash-1" })).text, "begun\n[status: running]");
  assertEquals(
    (await output({ task_id: "bash-1", wait: true, timeout_ms: 20 })).text,
    "(no new output)\n[status: running]",
  );
  const list = await session.call("task_list", {});
  assertEquals(list.text.split("\n").map((line) => line.split("]")[0]), [
    "bash-1 [running",
    "bash-2 [failed with exit code 3",
  ]);
  assertEquals((await session.call("task_kill", { task_id: "bash-1" })).text, "ended bash-1");
  await waitUntilGone(seconds);
  assertStringIncludes(
    (await session.call("task_kill", { task_id: "bash-1" })).text,
    "over already",
  );
});

Deno.test("background tasks belong to their session and end with it", async () => {
  await using one = new Session();
  await using other = new Session();
  const seconds = uniqueSeconds();
  await one.call("bash", { command: `trap '' TERM; sleep ${seconds}`, run_in_background: true });
  for (const name of ["task_output", "task_kill"]) {
    const { text, result } = await other.call(name, { task_id: "bash-1" });
    assertEquals(result.isError, true);
    assertStringIncludes(text, 'there is no task "bash-1" in this session');
  }
  assertEquals((await other.call("task_list", {})).text, "(no background tasks)");
  await one.tools[Symbol.asyncDispose]();
  await waitUntilGone(seconds);
});

Deno.test("a background task that cannot start says so", async () => {
  await using session = new Session(NO_PROBE);
  const { result } = await session.call("bash", { command: "true", run_in_background: true });
  assertEquals(result.isError, true);
});

Deno.test("task_output bounds what one read gives and names the rest", async () => {
  await using session = new Session();
  await session.call("bash", { command: "seq 100000", run_in_background: true });
  const { text } = await session.call("task_output", { task_id: "bash-1", wait: true });
  assert(text.length < 66_000);
  assert(text.endsWith("\n100000\n[status: completed]"));
  const path = /full output: (\S+) /.exec(text)?.[1];
  assert(path);
  assertEquals((await session.call("bash", { command: `wc -l < ${path}` })).text, "100000\n");
});
