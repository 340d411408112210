import { assertEquals } from "@std/assert";
import { isInherited } from "../../bash/env.ts";
import { commandPrefix } from "../../bash/command_prefix.ts";
import { loadShellParser } from "../../bash/shell_parser.ts";

const parser = await loadShellParser();

Deno.test("commandPrefix() names the part that an approval stands for", () => {
  for (
    const [command, prefix] of [
      ["git status", "git status"],
      ["git status --short -- 'a b'", "git status"],
      ["git log --oneline -5", "git log"],
      ["npm test", "npm test"],
      ["npm test -- --watch", "npm test"],
      ["npm run build -- -x", "npm run build"],
      ["deno task ok", "deno task ok"],
      ["cargo test --release", "cargo test"],
      ["ls -la src", "ls"],
      ["cat a b", "cat"],
    ]
  ) assertEquals(commandPrefix(command!, parser), prefix, command);
});

Deno.test("commandPrefix() stands for the whole command where a part would say too little", () => {
  for (
    const command of [
      "rm -rf build",
      "make",
      "node -e 'code'",
      "python3 -c 'code'",
      "find . -delete",
      "npx tsc",
      "npm run",
      "npm run --silent",
      "npm test --script-shell=./evil",
      "go test -exec ./evil",
      "git -C /elsewhere status",
      "git -c core.pager=evil log",
      "git fetch --upload-pack=evil",
      "git fetch --upl=evil",
      "git push --exe=evil",
      "git rebase -x evil",
      "git diff --ext-diff",
      "git diff --output=/etc/passwd",
      "git fetch ext::evil",
      "git config core.pager evil",
      "git constructor",
      "constructor status",
      "./git status",
      "g\\it status",
      "'git' status",
      "git 'status'",
    ]
  ) assertEquals(commandPrefix(`  ${command} `, parser), command, command);
});

Deno.test("commandPrefix() stands for nothing that is not one simple command", () => {
  for (
    const command of [
      "",
      "git status; rm x",
      "git status && x",
      "git status || x",
      "git status | sh",
      "git status & rm x",
      "git status\nrm x",
      "git status $(rm x)",
      "git status `rm x`",
      'git status "$(rm x)"',
      "git status $x",
      "git status ${x:=y}",
      "git status $((1+1))",
      "git status <(rm x)",
      "git status > x",
      "git status >> x",
      "git status 2>&1",
      "git status < x",
      "git status <<< x",
      "git status <<E\n$(rm x)\nE",
      "GIT_PAGER=evil git status",
      "! git status",
      "time git status",
      "(git status)",
      "{ git status; }",
      "coproc git status",
      "git() { rm x; }",
      "[[ -e x ]]",
      "git status #",
      "git status 'unfinished",
      "git status {a,$(rm x)}",
      "ls [$(rm x)]*",
      "sudo git status",
      "/usr/bin/sudo git status",
      "bash -c 'git status'",
      "env git status",
      "xargs git status",
      "eval git status",
      "command git status",
      "timeout 5 git status",
    ]
  ) assertEquals(commandPrefix(command, parser), undefined, command);
});

Deno.test("commandPrefix() covers no word that the shell may turn into an option", async () => {
  const parser = await loadShellParser();
  for (
    const command of [
      "git fetch {--upload-pack=./evil.sh,.}",
      "git log {--output=/x,HEAD}",
      "git log -{-output=/x,-oneline}",
      "git log *put=d/../../outside/f",
      "git log ?-output=x",
      "git log [-]-output=x",
      "git log @(--output=x)",
      "git log ~/x",
      "git log {1..3}",
      'git log "a"{--output=x,b}',
      "ls *",
    ]
  ) {
    assertEquals(commandPrefix(command, parser), undefined, command);
  }
  for (const command of ["git log 'a*'", 'git log "{a,b}"', "git log \\*"]) {
    assertEquals(commandPrefix(command, parser), "git log", command);
  }
});

Deno.test("isInherited() knows more names of secrets than the obvious ones", () => {
  const secrets = ["SSHPASS", "MYSQL_PWD", "PGPASS", "NPM_AUTH", "X_CRED", "BEARER"];
  secrets.push("SESSION_COOKIE", "SLACK_WEBHOOK_URL", "AUTH_HEADER");
  assertEquals(secrets.filter(isInherited), []);
  const kept = ["SSH_AUTH_SOCK", "XAUTHORITY", "AUTHOR", "COMPASS_DIR", "PATH", "HOME"];
  assertEquals(kept.filter(isInherited), kept);
});
