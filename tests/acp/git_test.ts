import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { ModelServer } from "../helpers/model_server.ts";
import { startAgent } from "../helpers/start_agent.ts";
import { shownBy } from "../helpers/user_command.ts";

const LINUX = Deno.build.os === "linux";

/** Ways to have the user's own git run something, each in a folder of its own. */
const PLANTED: Readonly<Record<string, string>> = {
  "hook": "git init -q . && cp evil .git/hooks/post-index-change",
  "setting": "git init -q . && git config core.fsmonitor $PWD/evil",
  "pointer": "mkdir x && git init -q --separate-git-dir x/git . && cp planted x/git/config",
  "link": "git init -q x && cp planted x/.git/config && ln -s x/.git .git",
  "temporary": "git init -q $TMPDIR/x && cp planted $TMPDIR/x/.git/config && " +
    "ln -s $TMPDIR/x/.git .git",
  "common": "git init -q . && git init -q x && cp planted x/.git/config && " +
    "echo ../x/.git > .git/commondir",
  "link to a pointer": "mkdir -p a/b && git init -q a/b/x && cp planted a/b/x/.git/config && " +
    "echo 'gitdir: a/b/x/.git' > dot && ln -s dot .git",
  "link to a common folder": "git init -q . && mkdir -p a/b && git init -q a/b/x && " +
    "cp planted a/b/x/.git/config && echo ../a/b/x/.git > to && ln -s ../to .git/commondir",
  "bare": "git init -q --bare . && cp planted config",
};

Deno.test({
  name: "nothing that a command leaves where git looks runs when the user calls git",
  ignore: !LINUX,
  fn: async () => {
    for (const [name, command] of Object.entries(PLANTED)) {
      await using model = ModelServer.start([]);
      await using agent = await startAgent({ model });
      const marker = join(agent.workspace, "..", "ran");
      const evil = `#!/bin/sh\ntouch ${marker}\n`;
      await Deno.writeTextFile(agent.path("evil"), evil, { mode: 0o755 });
      const config = "[core]\n\trepositoryformatversion = 0\n\tworktree = " + agent.workspace +
        `\n\tfsmonitor = ${agent.path("evil")}\n\thooksPath = ${agent.workspace}\n`;
      await Deno.writeTextFile(agent.path("planted"), config);
      const sessionId = await agent.newSession();
      const shown = await shownBy(agent.client, sessionId, `{ ${command}; } 2>&1`);
      assertEquals(shown, "", name);
      const status = await new Deno.Command("bash", {
        args: ["-c", "git status && git add evil"],
        cwd: agent.workspace,
      }).output();
      const said = new TextDecoder().decode(status.stdout) +
        new TextDecoder().decode(status.stderr);
      await assertRejects(
        () => Deno.stat(marker),
        Deno.errors.NotFound,
        undefined,
        `${name}: ${said}`,
      );
    }
  },
});

Deno.test({
  name: "what the repositories of the workspace run stays as it is",
  ignore: !LINUX,
  fn: async () => {
    await using model = ModelServer.start([]);
    await using agent = await startAgent({ model });
    const git = async (...args: string[]) => {
      const { success, stderr } = await new Deno.Command("git", {
        args: [
          "-c",
          "user.name=a",
          "-c",
          "user.email=a@example.org",
          "-c",
          "protocol.file.allow=always",
          ...args,
        ],
        cwd: agent.workspace,
      }).output();
      assert(success, new TextDecoder().decode(stderr));
    };
    await git("init", "-q", "--initial-branch=main", ".");
    await git("commit", "-q", "--allow-empty", "-m", "first");
    await git("clone", "-q", ".", "beside");
    await git(
      "-c",
      "core.hooksPath=/dev/null",
      "submodule",
      "--quiet",
      "add",
      "./beside",
      "lib/sub",
    );
    await git("worktree", "add", "-q", "tree");
    const sessionId = await agent.newSession();
    const tries = [
      "echo x >> beside/.git/config",
      "echo x > beside/.git/hooks/pre-commit",
      "mv beside/.git beside/old",
      "mv beside aside",
      "echo x > lib/sub/.git",
      "rm lib/sub/.git",
      "mv lib/sub lib/aside",
      "echo x >> .git/modules/lib/sub/config",
      "echo x > .git/modules/lib/sub/hooks/pre-commit",
      "mv .git/modules .git/old",
      "echo x > .git/worktrees/tree/commondir",
      "echo x > tree/.git",
    ].map((command) => `(${command}) 2>/dev/null && echo 'open: ${command}'`).join("\n");
    assertEquals(await shownBy(agent.client, sessionId, `${tries}\ntrue`), "");
    const fine =
      "touch new && git add new && git -C beside status --short && git -C lib/sub status " +
      "--short && git -C tree status --short && echo fine";
    assertEquals(await shownBy(agent.client, sessionId, fine), "fine\n");
  },
});

Deno.test({
  name: "a link among what git reads is not replaced by something that runs",
  ignore: !LINUX,
  fn: async () => {
    const tries: Readonly<Record<string, readonly [before: string, command: string]>> = {
      "hooks": [
        "mkdir kept && rm -r .git/hooks && ln -s ../kept .git/hooks",
        "rm .git/hooks && mkdir .git/hooks && cp evil .git/hooks/post-index-change",
      ],
      "config": [
        "mv .git/config kept && ln -s ../kept .git/config",
        "rm .git/config && cp planted .git/config",
      ],
    };
    for (const [name, [before, command]] of Object.entries(tries)) {
      await using model = ModelServer.start([]);
      await using agent = await startAgent({ model });
      const marker = join(agent.workspace, "..", "ran");
      const evil = `#!/bin/sh\ntouch ${marker}\n`;
      await Deno.writeTextFile(agent.path("evil"), evil, { mode: 0o755 });
      await Deno.writeTextFile(
        agent.path("planted"),
        `[core]\nfsmonitor = ${agent.path("evil")}\n`,
      );
      const bash = (script: string) =>
        new Deno.Command("bash", { args: ["-c", script], cwd: agent.workspace }).output();
      assert((await bash(`git init -q . && ${before}`)).success);
      const sessionId = await agent.newSession();
      assertEquals(await shownBy(agent.client, sessionId, command), "", name);
      await bash("git status && git add evil");
      await assertRejects(() => Deno.stat(marker), Deno.errors.NotFound, undefined, name);
    }
  },
});

/** What keeps a program busy or waiting that looks at it carelessly. */
const ODD: Readonly<Record<string, string>> = {
  "a pipe for .git": "mkfifo .git",
  "a pipe for commondir": "git init -q . && mkfifo .git/commondir",
  "a pipe for config": "git init -q . && rm .git/config && mkfifo .git/config",
  "a pipe for .gitmodules": "mkfifo .gitmodules",
  "a device for .gitmodules": "ln -s /dev/zero .gitmodules",
  "a huge .git": "truncate -s 3G .git",
  "a huge config": "git init -q . && truncate -s 3G .git/config",
  "many submodules": "git init -q . && mkdir -p .git/modules/{1..2000} && " +
    "for i in {1..2000}; do : > .git/modules/$i/HEAD; done",
  "many worktrees": "git init -q . && mkdir -p .git/worktrees/{1..2000} && " +
    "for i in {1..2000}; do echo ../.. > .git/worktrees/$i/commondir; done",
};

Deno.test({
  name: "an odd .git keeps no command from running, in this session and the next",
  ignore: !LINUX,
  fn: async () => {
    for (const [name, command] of Object.entries(ODD)) {
      await using model = ModelServer.start([]);
      await using agent = await startAgent({ model });
      const first = await agent.newSession();
      assertEquals(await shownBy(agent.client, first, command), "", name);
      assertEquals(await shownBy(agent.client, first, "echo fine"), "fine\n", name);
      const second = await agent.newSession();
      assertEquals(await shownBy(agent.client, second, "echo fine"), "fine\n", name);
    }
  },
});
