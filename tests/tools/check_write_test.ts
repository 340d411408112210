import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { checkWrite, isWithin } from "../../tools/check_write.ts";
import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import { policy, Workspace } from "./_workspace.ts";

async function verdict(path: string, rules: SandboxPolicy): Promise<string> {
  const check = await checkWrite(path, rules);
  return check.type === "allowed" ? `allowed ${check.path}` : check.type;
}

Deno.test("checkWrite() refuses every write in read-only mode", async () => {
  await using ws = await Workspace.open();
  const check = await checkWrite(ws.path("a"), policy("read-only", [ws.cwd]));
  assert(check.type === "refused");
  assertEquals(check.mode, "read-only");
  assertStringIncludes(check.message, ws.path("a"));
  assertStringIncludes(check.message, "accepted would be a mode that allows writing");
});

Deno.test("checkWrite() allows everything in danger-full-access mode", async () => {
  await using ws = await Workspace.open();
  const path = `${ws.outside}/a`;
  assertEquals(await verdict(path, policy("danger-full-access", [], [path])), `allowed ${path}`);
});

Deno.test("checkWrite() compares segments, not prefixes", async () => {
  await using ws = await Workspace.open();
  const rules = policy("workspace-write", [ws.cwd]);
  for (const name of ["a", "..cache/x", "...", "new/deep/er/file", "ünï/文件.txt", "a b/c"]) {
    assertEquals(await verdict(ws.path(name), rules), `allowed ${ws.path(name)}`);
  }
  assertEquals(await verdict(`${ws.cwd}-other/x`, rules), "refused");
  assertEquals(await verdict(ws.outside, rules), "refused");
  assertEquals(await verdict("/etc/passwd", rules), "refused");
});

Deno.test("checkWrite() refuses the writable root itself where it is a folder", async () => {
  await using ws = await Workspace.open();
  assertEquals(await verdict(ws.cwd, policy("workspace-write", [ws.cwd])), "refused");
});

Deno.test("checkWrite() takes a root that is a file, or missing, for that one path", async () => {
  await using ws = await Workspace.open();
  await ws.put("file", "");
  await Deno.link(ws.path("file"), ws.path("twin"));
  await Deno.symlink("file", ws.path("link"));
  for (const name of ["file", "missing"]) {
    const rules = policy("workspace-write", [ws.path(name)]);
    assertEquals(await verdict(ws.path(name), rules), `allowed ${ws.path(name)}`);
    for (const other of ["other", "twin", `${name}2`]) {
      assertEquals(await verdict(ws.path(other), rules), "refused", `${name}: ${other}`);
    }
  }
  const rules = policy("workspace-write", [ws.path("file")]);
  assertEquals(await verdict(ws.path("link"), rules), `allowed ${ws.path("file")}`);
});

Deno.test("checkWrite() follows links of parents and targets, dangling ones included", async () => {
  await using ws = await Workspace.open();
  const rules = policy("workspace-write", [ws.cwd]);
  await Deno.writeTextFile(`${ws.outside}/file`, "");
  await Deno.mkdir(ws.path("inner"));
  await Deno.symlink(ws.outside, ws.path("folder"));
  await Deno.symlink(`${ws.outside}/file`, ws.path("file"));
  await Deno.symlink(`${ws.outside}/missing`, ws.path("dangling"));
  await Deno.symlink("../outside", ws.path("relative"));
  await Deno.symlink("inner", ws.path("good"));
  await Deno.symlink("folder", ws.path("chain"));
  for (
    const name of ["folder/new", "file", "dangling", "relative/x", "chain/a/b", "good/../../x"]
  ) {
    assertEquals(await verdict(ws.path(name), rules), "refused", name);
  }
  assertEquals(await verdict(ws.path("good/x"), rules), `allowed ${ws.path("inner/x")}`);
});

Deno.test("checkWrite() takes .. after a link as the system does, not lexically", async () => {
  await using ws = await Workspace.open();
  await Deno.mkdir(`${ws.outside}/deep`);
  await Deno.symlink(`${ws.outside}/deep`, ws.path("link"));
  const rules = policy("workspace-write", [ws.cwd]);
  // Lexically this is `work/x`; the system opens `outside/x`.
  assertEquals(await verdict(ws.path("link/../x"), rules), "refused");
  await Deno.symlink(ws.cwd, `${ws.outside}/deep/back`);
  assertEquals(await verdict(`${ws.outside}/deep/back/x`, rules), `allowed ${ws.path("x")}`);
});

Deno.test("checkWrite() accepts a writable root that is a link", async () => {
  await using ws = await Workspace.open();
  const alias = `${ws.outside}/alias`;
  await Deno.symlink(ws.cwd, alias);
  const rules = policy("workspace-write", [alias]);
  assertEquals(await verdict(`${alias}/x`, rules), `allowed ${ws.path("x")}`);
  assertEquals(await verdict(ws.path("x"), rules), `allowed ${ws.path("x")}`);
});

Deno.test("checkWrite() refuses protected paths, what is below and what would replace them", async () => {
  await using ws = await Workspace.open();
  const rules = policy("workspace-write", [ws.cwd], [
    ws.path("own/hooks"),
    ws.path("own/config"),
  ]);
  const forbidden = [
    "own/hooks",
    "own/hooks/pre-commit",
    "own/hooks/a/b",
    "own/config",
    "own",
    "OWN/Hooks/x",
    "own/CONFIG",
    "x/../own/config",
  ];
  for (const name of forbidden) {
    assertEquals(await verdict(ws.path(name), rules), "refused", name);
  }
  await Deno.mkdir(ws.path("own/hooks"), { recursive: true });
  await Deno.writeTextFile(ws.path("own/config"), "");
  await Deno.symlink("own/hooks", ws.path("innocent"));
  await Deno.symlink("own", ws.path("alias"));
  for (const name of [...forbidden, "innocent/x", "alias/config"]) {
    assertEquals(await verdict(ws.path(name), rules), "refused", name);
  }
  for (const name of ["own/HEAD", "own/hooks2/x", "own2/x"]) {
    assertEquals(await verdict(ws.path(name), rules), `allowed ${ws.path(name)}`, name);
  }
});

Deno.test("checkWrite() leaves every .git to git", async () => {
  await using ws = await Workspace.open();
  const rules = policy("workspace-write", [ws.cwd]);
  await Deno.mkdir(ws.path("sub/.git"), { recursive: true });
  await Deno.symlink("sub/.git", ws.path("alias"));
  for (const name of [".git", ".git/config", ".Git/HEAD", "sub/.git/x", "new/.git", "alias/x"]) {
    assertEquals(await verdict(ws.path(name), rules), "refused", name);
  }
  for (const name of [".github/x", ".gitignore", "git/x", "x.git/config"]) {
    assertEquals(await verdict(ws.path(name), rules), `allowed ${ws.path(name)}`, name);
  }
  // The workspace itself may lie in one.
  const inner = policy("workspace-write", [ws.path("sub/.git")]);
  assertEquals(
    await verdict(ws.path("sub/.git/x"), inner),
    `allowed ${ws.path("sub/.git/x")}`,
  );
});

Deno.test("checkWrite() refuses another hard link of a protected file", async () => {
  await using ws = await Workspace.open();
  await ws.put("secret", "");
  await Deno.link(ws.path("secret"), ws.path("other"));
  const rules = policy("workspace-write", [ws.cwd], [ws.path("secret")]);
  assertEquals(await verdict(ws.path("other"), rules), "refused");
});

Deno.test("checkWrite() reports paths that lead nowhere", async () => {
  await using ws = await Workspace.open();
  await Deno.symlink("b", ws.path("a"));
  await Deno.symlink("a", ws.path("b"));
  await ws.put("file", "");
  const rules = policy("workspace-write", [ws.cwd]);
  assertEquals(await verdict(ws.path("a/x"), rules), "failed");
  assertEquals(await verdict(ws.path("file/x"), rules), "failed");
  assertEquals(await verdict(ws.path("file/../x"), rules), "failed");
  assertEquals(await verdict("relative", rules), "failed");
});

Deno.test("isWithin() treats .. as a segment", () => {
  assertEquals(isWithin("/a", "/a"), true);
  assertEquals(isWithin("/a", "/a/..b/c"), true);
  assertEquals(isWithin("/a", "/ab"), false);
  assertEquals(isWithin("/a/b", "/a"), false);
  assertEquals(isWithin("/", "/x"), true);
});
