import { assert, assertEquals } from "@std/assert";
import { nestedRepositories } from "../../bash/sandbox/git_places.ts";
import { guardedPaths } from "../../bash/sandbox/guarded_paths.ts";
import { sealNewPaths } from "../../bash/sandbox/seal_new_paths.ts";
import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import { TempFolder } from "./_helpers.ts";

/** Runs what a command would have done, then makes it harmless. */
async function sealed(root: string, change: () => unknown): Promise<string[]> {
  const policy: SandboxPolicy = {
    mode: "workspace-write",
    writableRoots: [root],
    protectedPaths: [],
    network: "on",
    enforcement: "sandbox",
  };
  const nested = nestedRepositories(root);
  const before = guardedPaths(policy, () => nested);
  await change();
  return sealNewPaths(before, guardedPaths(policy, () => nested))
    .map((path) => path.slice(root.length + 1)).sort();
}

Deno.test("sealNewPaths() leaves a fresh repository as git made it", async () => {
  await using folder = new TempFolder();
  const git = (...args: string[]) =>
    new Deno.Command("git", { args, cwd: folder.path, stdout: "null", stderr: "null" }).output();
  const changed = await sealed(folder.path, async () => {
    await git("init");
    await git("config", "user.name", "Somebody");
    await git("remote", "add", "origin", "https://example.org/x.git");
  });
  assertEquals(changed, []);
  const config = Deno.readTextFileSync(`${folder.path}/.git/config`);
  assert(config.includes("Somebody") && config.includes("https://example.org/x.git"));
});

Deno.test("sealNewPaths() disarms hooks", async () => {
  await using folder = new TempFolder();
  const hooks = `${folder.path}/.git/hooks`;
  const hook = `${hooks}/pre-commit`;
  const changed = await sealed(folder.path, () => {
    folder.folder(".git/hooks");
    folder.file(".git/hooks/pre-commit", "#!/bin/sh\necho hooked\n");
    Deno.chmodSync(hook, 0o755);
    Deno.symlinkSync("/bin/true", `${hooks}/post-commit`);
  });
  assertEquals(changed, [".git/hooks"]);
  assertEquals((await Deno.stat(hook)).mode! & 0o777, 0o644);
  assertEquals([...Deno.readDirSync(hooks)].map((entry) => entry.name), ["pre-commit"]);
});

Deno.test("sealNewPaths() removes settings that run something", async () => {
  await using folder = new TempFolder();
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
  const changed = await sealed(folder.path, () => {
    folder.folder(".git");
    folder.file(".git/config", lines.join("\n"));
  });
  assertEquals(changed, [".git/config"]);
  assertEquals(Deno.readTextFileSync(`${folder.path}/.git/config`).split("\n"), [
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
  const changed = await sealed(
    workspace,
    () => Deno.symlinkSync(`${folder.path}/home`, `${workspace}/.git`),
  );
  assertEquals(changed, [".git"]);
  assertEquals([...Deno.readDirSync(workspace)], []);
  assertEquals(Deno.readTextFileSync(config), "Host *\n");
});

Deno.test("sealNewPaths() is content with what is still missing", async () => {
  await using folder = new TempFolder();
  assertEquals(await sealed(folder.path, () => {}), []);
});

const EVIL = "[core]\n\tfsmonitor = ./evil\n";

/** Where a command could plant what the user's next git command would run, by how it gets there. */
const PLANTED: Readonly<Record<string, (folder: TempFolder) => string>> = {
  "a .git file": (folder) => {
    folder.file(".git", "gitdir: elsewhere\n");
    return folder.folder("elsewhere");
  },
  "a .git link": (folder) => {
    Deno.symlinkSync("elsewhere", `${folder.path}/.git`);
    return folder.folder("elsewhere");
  },
  "a common directory": (folder) => {
    folder.folder(".git");
    folder.file(".git/commondir", "../elsewhere\n");
    return folder.folder("elsewhere");
  },
  "a bare repository": (folder) => {
    folder.file("HEAD", "ref: refs/heads/main\n");
    folder.folder("objects");
    folder.folder("refs");
    return folder.path;
  },
  "a submodule": (folder) => {
    const inner = folder.folder(".git/modules/deep/er");
    folder.file(".git/modules/deep/er/HEAD", "ref: refs/heads/main\n");
    return inner;
  },
};

for (const [name, plant] of Object.entries(PLANTED)) {
  Deno.test(`sealNewPaths() finds what a command planted: ${name}`, async () => {
    await using folder = new TempFolder();
    let repository = "";
    await sealed(folder.path, () => {
      repository = plant(folder);
      Deno.mkdirSync(`${repository}/hooks`);
      Deno.writeTextFileSync(`${repository}/hooks/post-checkout`, "#!/bin/sh\n", { mode: 0o755 });
      Deno.writeTextFileSync(`${repository}/config`, EVIL);
    });
    assertEquals(Deno.readTextFileSync(`${repository}/config`), "[core]\n");
    assertEquals(Deno.statSync(`${repository}/hooks/post-checkout`).mode! & 0o111, 0);
  });
}

Deno.test("sealNewPaths() leaves a linked worktree that a command added", async () => {
  await using folder = new TempFolder();
  const git = async (...args: string[]) => {
    const command = new Deno.Command("git", {
      args: ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args],
      cwd: folder.path,
    });
    const { success, stderr } = await command.output();
    assert(success, new TextDecoder().decode(stderr));
  };
  await git("init", "-q");
  await git("commit", "-q", "--allow-empty", "-m", "first");
  assertEquals(await sealed(folder.path, () => git("worktree", "add", "-q", "tree")), []);
  await git("-C", "tree", "status");
});

Deno.test("nestedRepositories() names folders of the workspace and its submodules only", async () => {
  await using folder = new TempFolder();
  for (const path of ["a", "b/c", "build/x", "plain"]) folder.folder(path);
  for (const path of ["a", "b/c", "build/x"]) folder.folder(`${path}/.git`);
  folder.file(".gitmodules", '[submodule "c"]\n\tpath = b/c\n[submodule "out"]\n\tpath = ../..\n');
  assertEquals(
    nestedRepositories(folder.path).map((path) => path.slice(folder.path.length + 1)).sort(),
    ["a", "b/c"],
  );
});
