import { assertEquals } from "@std/assert";
import { sealNewPaths } from "../../bash/sandbox/seal_new_paths.ts";
import { TempFolder } from "./_helpers.ts";

Deno.test("sealNewPaths() leaves a fresh repository as git made it", async () => {
  await using folder = new TempFolder();
  const git = (...args: string[]) =>
    new Deno.Command("git", { args, cwd: folder.path, stdout: "null", stderr: "null" }).output();
  await git("init");
  await git("config", "user.name", "Somebody");
  await git("remote", "add", "origin", "https://example.org/x.git");
  const config = `${folder.path}/.git/config`;
  const before = Deno.readTextFileSync(config);
  assertEquals(sealNewPaths([`${folder.path}/.git/hooks`, config], [folder.path]), []);
  assertEquals(Deno.readTextFileSync(config), before);
});

Deno.test("sealNewPaths() disarms hooks", async () => {
  await using folder = new TempFolder();
  const hooks = folder.folder(".git/hooks");
  const hook = folder.file(".git/hooks/pre-commit", "#!/bin/sh\necho hooked\n");
  Deno.chmodSync(hook, 0o755);
  Deno.symlinkSync("/bin/true", `${hooks}/post-commit`);
  assertEquals(sealNewPaths([hooks], [folder.path]), [hooks]);
  assertEquals((await Deno.stat(hook)).mode! & 0o777, 0o644);
  assertEquals([...Deno.readDirSync(hooks)].map((entry) => entry.name), ["pre-commit"]);
});

Deno.test("sealNewPaths() removes settings that run something", async () => {
  await using folder = new TempFolder();
  folder.folder(".git");
  const lines = [
    "[core]",
    "\tbare = false",
    "\tfsmonitor = ./evil",
    "\thooksPath = .",
    "[Core]",
    "\tsshCommand = evil",
    "[alias]",
    "\tst = !evil",
    "[user]",
    "\tname = A \\",
    "\temail = a@example.org",
    '[remote "origin"]',
    "\turl = ext::sh -c evil",
    '\tfetch = "+refs/heads/*:refs/remotes/origin/*"',
    "\tuploadpack = evil",
    '[filter "x"]',
    "\tclean = evil",
    "[include]",
    "\tpath = evil",
    "[core] fsmonitor = evil",
    "",
  ];
  const config = folder.file(".git/config", lines.join("\n"));
  assertEquals(sealNewPaths([config], [folder.path]), [config]);
  assertEquals(Deno.readTextFileSync(config).split("\n"), [
    "[core]",
    "\tbare = false",
    "[Core]",
    "[user]",
    "\temail = a@example.org",
    '[remote "origin"]',
    '\tfetch = "+refs/heads/*:refs/remotes/origin/*"',
    "",
  ]);
});

Deno.test("sealNewPaths() does not follow a link out of the workspace", async () => {
  await using folder = new TempFolder();
  const workspace = folder.folder("workspace");
  folder.folder("home");
  const config = folder.file("home/config", "Host *\n");
  Deno.symlinkSync(`${folder.path}/home`, `${workspace}/.git`);
  assertEquals(sealNewPaths([`${workspace}/.git/config`], [workspace]), []);
  assertEquals(Deno.readTextFileSync(config), "Host *\n");
});

Deno.test("sealNewPaths() is content with what is still missing", async () => {
  await using folder = new TempFolder();
  assertEquals(sealNewPaths([`${folder.path}/.git/hooks`], [folder.path]), []);
});
