import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { writeAtomically } from "../../tools/_atomic_write.ts";
import { fileVersion } from "../../tools/file_observations.ts";
import { policy, Workspace } from "./_workspace.ts";

Deno.test("write() creates a file and its folders", async () => {
  await using ws = await Workspace.open();
  assertEquals(
    await ws.text("write", { file_path: "ü/b c/文.txt", content: "a\nb\n" }),
    "Created file ü/b c/文.txt (2 lines)",
  );
  assertEquals(await ws.get("ü/b c/文.txt"), "a\nb\n");
  const info = await Deno.stat(ws.path("ü/b c/文.txt"));
  assertEquals((info.mode ?? 0) & 0o777, 0o666 & ~Deno.umask());
  assertEquals([...Deno.readDirSync(ws.path("ü/b c"))].map(({ name }) => name), ["文.txt"]);
});

Deno.test("write() refuses to overwrite what was not read, or has changed since", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", "old");
  const args = { file_path: "a", content: "new" };
  assertStringIncludes(await ws.text("write", args), "an existing file must be read first");
  await ws.call("read", { file_path: "a" });
  await ws.put("a", "changed by someone");
  assertStringIncludes(await ws.text("write", args), "must be unchanged since it was read");
  assertEquals(await ws.get("a"), "changed by someone");
  await ws.call("read", { file_path: "a" });
  assertEquals(await ws.text("write", args), "Updated file a (1 line added, 1 removed)");
  assertEquals(
    await ws.text("write", { ...args, content: "newer" }),
    "Updated file a (1 line added, 1 removed)",
  );
  assertEquals(await ws.get("a"), "newer");
});

Deno.test("write() notices a change of the same size with the time set back", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", "old");
  await Deno.utime(ws.path("a"), 1000, 1000);
  await ws.call("read", { file_path: "a" });
  // A second name keeps the first inode taken: the new file cannot be given it again.
  await Deno.rename(ws.path("a"), ws.path("old"));
  await ws.put("a", "new");
  await Deno.utime(ws.path("a"), 1000, 1000);
  const text = await ws.text("write", { file_path: "a", content: "mine" });
  assertStringIncludes(text, "must be unchanged");
});

Deno.test("write() keeps mode, owner and links of a file it replaces", async () => {
  await using ws = await Workspace.open();
  await ws.put("real.sh", "#!/bin/sh\n");
  await Deno.chmod(ws.path("real.sh"), 0o750);
  if (Deno.uid() === 0) await Deno.chown(ws.path("real.sh"), 1234, 4321);
  const before = await Deno.stat(ws.path("real.sh"));
  await Deno.symlink("real.sh", ws.path("link"));
  await ws.call("read", { file_path: "link" });
  await ws.text("write", { file_path: "link", content: "#!/bin/bash\n" });
  assertEquals(await ws.get("real.sh"), "#!/bin/bash\n");
  assert((await Deno.lstat(ws.path("link"))).isSymlink);
  const { mode, uid, gid } = await Deno.stat(ws.path("real.sh"));
  assertEquals({ mode, uid, gid }, { mode: before.mode, uid: before.uid, gid: before.gid });
});

Deno.test("write() creates the target of a dangling link inside the workspace only", async () => {
  await using ws = await Workspace.open();
  await Deno.symlink("later/target", ws.path("inside"));
  await Deno.symlink(`${ws.outside}/target`, ws.path("escape"));
  assertStringIncludes(await ws.text("write", { file_path: "inside", content: "x" }), "Created");
  assertEquals(await ws.get("later/target"), "x");
  const text = await ws.text("write", { file_path: "escape", content: "x" });
  assertStringIncludes(text, `it leads to "${ws.outside}/target"`);
  assertEquals([...Deno.readDirSync(ws.outside)], []);
});

Deno.test("write() obeys the policy of the call", async () => {
  await using ws = await Workspace.open();
  const inside = { file_path: "a", content: "x" };
  const outside = { file_path: "../outside/a", content: "x" };
  ws.policy = policy("read-only");
  const refusal = await ws.text("write", inside);
  assertStringIncludes(refusal, `Error: Cannot write "`);
  assertStringIncludes(refusal, `the sandbox mode "read-only"`);
  ws.policy = policy("workspace-write", [ws.cwd]);
  assertStringIncludes(await ws.text("write", outside), `"workspace-write"`);
  ws.policy = policy("danger-full-access");
  assertStringIncludes(await ws.text("write", outside), "Created");
  assertEquals(await Deno.readTextFile(`${ws.outside}/a`), "x");
});

Deno.test("write() refuses folders and special files", async () => {
  await using ws = await Workspace.open();
  await Deno.mkdir(ws.path("dir"));
  ws.policy = policy("danger-full-access");
  for (
    const [path, kind] of [["dir", "a folder"], ["new/", "a folder"], ["/dev/null", "a device"]]
  ) {
    const text = await ws.text("write", { file_path: path, content: "x" });
    assertStringIncludes(text, `as it must name a regular file: it is ${kind}`);
  }
  await ws.put("file", "");
  const text = await ws.text("write", { file_path: "file/x", content: "" });
  assertStringIncludes(text, "a parent of it is not a folder");
});

Deno.test("write() keeps CRLF and a byte order mark, and does not show every line as changed", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", "\uFEFFone\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\n");
  await ws.call("read", { file_path: "a" });
  const args = { file_path: "a", content: "one\ntwo\nthree\nfour\nfive\n6\n" };
  const result = await ws.call("write", args);
  assertEquals(
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(await Deno.readFile(ws.path("a"))),
    "\uFEFFone\r\ntwo\r\nthree\r\nfour\r\nfive\r\n6\r\n",
  );
  assertEquals(result.content, [{
    type: "text",
    text: "Updated file a (1 line added, 1 removed, CRLF line endings kept)",
  }]);
  assertEquals(ws.tools.presentResult("write", JSON.stringify(args), result), {
    type: "diff",
    diffs: [{ path: "a", oldText: "three\nfour\nfive\nsix\n", newText: "three\nfour\nfive\n6\n" }],
    locations: [{ path: "a", line: 6 }],
  });
  const lf = await ws.call("write", { file_path: "a", content: "one\r\ntwo\n" });
  assertEquals(lf.isError, false);
  assertEquals((await ws.get("a")).replace("\uFEFF", ""), "one\r\ntwo\n");
});

Deno.test("write() presents the whole file when it creates one", async () => {
  await using ws = await Workspace.open();
  const args = { file_path: "a", content: "one\n" };
  const diffs = [{ path: "a", oldText: null, newText: "one\n" }];
  assertEquals(ws.tools.presentCall("write", JSON.stringify(args)), {
    type: "diff",
    title: "Write a",
    diffs,
    locations: [{ path: "a" }],
  });
  assertEquals(await ws.view("write", args), { type: "diff", diffs, locations: [{ path: "a" }] });
});

Deno.test("write() says so when nothing changed", async () => {
  await using ws = await Workspace.open();
  await ws.call("write", { file_path: "a", content: "same\n" });
  const args = { file_path: "a", content: "same\n" };
  assertEquals(await ws.text("write", args), "Updated file a (no line changed)");
  assertEquals(await ws.view("write", args), { type: "generic" });
});

Deno.test("write() replaces a binary file that was seen as UTF-16", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", new Uint8Array([0xff, 0xfe, 0x61, 0]));
  await ws.call("read", { file_path: "a" });
  assertEquals(
    await ws.text("write", { file_path: "a", content: "b" }),
    "Updated file a (it was not UTF-8 text and is now)",
  );
});

Deno.test("writeAtomically() leaves nothing behind when the file changes under it", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", "old");
  const replaces = fileVersion(await Deno.lstat(ws.path("a")));
  await ws.put("a", "other content");
  const write = {
    path: ws.path("a"),
    data: new TextEncoder().encode("new"),
    policy: ws.policy,
    signal: ws.signal,
  };
  assertEquals(await writeAtomically({ ...write, replaces }), { type: "stale" });
  assertEquals(await writeAtomically({ ...write, replaces: null }), { type: "stale" });
  const cancelled = await writeAtomically({
    ...write,
    replaces: fileVersion(await Deno.lstat(ws.path("a"))),
    signal: AbortSignal.abort(),
  });
  assertEquals(cancelled.type, "failed");
  assertEquals(await ws.get("a"), "other content");
  assertEquals([...Deno.readDirSync(ws.cwd)].length, 1);
});

Deno.test("writeAtomically() writes nothing outside while a parent link changes its target", async () => {
  await using ws = await Workspace.open();
  await Deno.mkdir(ws.path("inside"));
  await Deno.symlink("inside", ws.path("dir"));
  let swapping = true;
  const swap = (async () => {
    for (let count = 0; swapping; count++) {
      await Deno.symlink(count % 2 ? ws.outside : "inside", ws.path("next"));
      await Deno.rename(ws.path("next"), ws.path("dir"));
    }
  })();
  let written = 0;
  for (let count = 0; count < 100; count++) {
    const result = await writeAtomically({
      path: `${ws.path("dir")}/file-${count}`,
      data: new TextEncoder().encode("x"),
      replaces: null,
      policy: ws.policy,
      signal: ws.signal,
    });
    if (result.type === "written") written++;
  }
  swapping = false;
  await swap;
  assertEquals([...Deno.readDirSync(ws.outside)], []);
  assertEquals([...Deno.readDirSync(ws.path("inside"))].length, written);
});

Deno.test("write() turns a missing Deno permission into an error result", async () => {
  await using ws = await Workspace.open();
  const script = `
    import { Workspace, policy } from ${JSON.stringify(import.meta.resolve("./_workspace.ts"))};
    import { fileTools } from ${JSON.stringify(import.meta.resolve("../../tools/file_tools.ts"))};
    const write = fileTools().find((tool) => tool.name === "write");
    const cwd = Deno.args[0];
    const result = await write.execute({ file_path: "a", content: "x" }, {
      sessionId: "s", callId: "c", cwd, signal: new AbortController().signal,
      policy: policy("danger-full-access"), output() {},
    });
    await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(result)));
  `;
  await Deno.writeTextFile(`${ws.outside}/main.ts`, script);
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-lock",
      "--allow-read",
      "--config",
      new URL("../../deno.json", import.meta.url).pathname,
      `${ws.outside}/main.ts`,
      ws.cwd,
    ],
  }).output();
  const text = new TextDecoder().decode(stdout);
  assertStringIncludes(
    text,
    "Deno was not granted the permission",
    new TextDecoder().decode(stderr),
  );
  assertStringIncludes(text, '"isError":true');
});

Deno.test("write() and edit() ask for a file outside of the workspace, that very file", async () => {
  await using ws = await Workspace.open();
  await Deno.symlink(ws.outside, ws.path("link"));
  await Deno.writeTextFile(`${ws.outside}/old`, "one\n");
  const target = `${ws.outside}/new`;
  const write = (file_path: string) => ws.authorize("write", { file_path, content: "x" });
  const direct = await write(target);
  assert(direct.type === "ask");
  assertEquals(direct.reason, `write outside the workspace: "${target}"`);
  assertEquals(direct.scope, { key: `write:${ws.outside}`, label: `writing in ${ws.outside}` });
  assertEquals(direct.policy, { ...ws.policy, writableRoots: [ws.cwd, target] });
  // By another way to the same folder: the same scope.
  const linked = await write("link/new");
  assert(linked.type === "ask");
  assertEquals(linked.scope, direct.scope);
  assertEquals(
    linked.reason,
    `write outside the workspace: "${target}" (through "${ws.path("link/new")}")`,
  );
  // Nobody is asked what would fail in any case.
  const edit = { file_path: "link/old", old_string: "one", new_string: "two" };
  const unseen = await ws.authorize("edit", edit);
  assert(unseen.type === "deny");
  assertStringIncludes(unseen.message, "must be read first");
  await ws.call("read", { file_path: "link/old" });
  const seen = await ws.authorize("edit", edit);
  assert(seen.type === "ask" && seen.policy);
  ws.policy = seen.policy;
  assertStringIncludes(await ws.text("edit", edit), "Edited link/old");
  assertEquals(await Deno.readTextFile(`${ws.outside}/old`), "two\n");
  assertStringIncludes(
    await ws.text("write", { file_path: target, content: "x" }),
    "Cannot write",
  );
  assertEquals(await write("inside"), { type: "allow" });
});

Deno.test("write() refuses protected paths and read-only mode without asking", async () => {
  await using ws = await Workspace.open();
  const data = `${ws.outside}/data`;
  await Deno.mkdir(data);
  ws.policy = policy("workspace-write", [ws.cwd], [data, ws.path(".git/hooks")]);
  await Deno.symlink(data, ws.path("alias"));
  for (const file_path of [`${data}/x`, "alias/x", ".git/hooks/x", `${data}`]) {
    const verdict = await ws.authorize("write", { file_path, content: "x" });
    assertEquals(verdict.type, "deny", file_path);
  }
  ws.policy = policy("read-only", [ws.cwd]);
  const verdict = await ws.authorize("write", { file_path: "a", content: "x" });
  assert(verdict.type === "deny");
  assertStringIncludes(verdict.message, `"read-only" allows no writes at all`);
});

Deno.test("write() does not follow a link that was turned elsewhere after the user agreed", async () => {
  await using ws = await Workspace.open();
  await Deno.mkdir(`${ws.outside}/a`);
  await Deno.mkdir(`${ws.outside}/b`);
  await Deno.symlink(`${ws.outside}/a`, ws.path("link"));
  await Deno.symlink(`${ws.outside}/a/one`, ws.path("file"));
  for (const file_path of ["link/x", "file"]) {
    const verdict = await ws.authorize("write", { file_path, content: "x" });
    assert(verdict.type === "ask" && verdict.policy);
    const asked = ws.policy;
    ws.policy = verdict.policy;
    const link = ws.path(file_path === "file" ? "file" : "link");
    await Deno.remove(link);
    await Deno.symlink(`${ws.outside}/${file_path === "file" ? "a/two" : "b"}`, link);
    assertStringIncludes(await ws.text("write", { file_path, content: "x" }), "Cannot write");
    ws.policy = asked;
  }
  assertEquals(
    [...Deno.readDirSync(`${ws.outside}/a`), ...Deno.readDirSync(`${ws.outside}/b`)],
    [],
  );
});
