import { assert, assertEquals } from "@std/assert";
import { isInherited, shellEnvironment } from "../../bash/env.ts";
import { run } from "./_helpers.ts";

Deno.test("shellEnvironment() drops secrets and this program's own settings", () => {
  const secrets = [
    "OPENAI_API_KEY",
    "aws_secret_access",
    "GITHUB_TOKEN",
    "PGPASSWORD",
    "MYSQL_PASSWD",
    "GPG_PASSPHRASE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "npm_config_//registry/:_authToken",
    "DSH_KV",
    "dsh_model",
  ];
  const hijacks = [
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "BASH_FUNC_ls%%",
  ];
  assertEquals([...secrets, ...hijacks].filter(isInherited), []);
  const kept = ["PATH", "HOME", "LANG", "USER", "SSH_AUTH_SOCK", "EDITOR", "CI", "VIRTUAL_ENV"];
  assertEquals(kept.filter(isInherited), kept);
});

Deno.test("shellEnvironment() sets what nobody can answer", () => {
  const env = shellEnvironment({ PAGER: "less", TERM: "dumb" }, { TMPDIR: "/private" });
  assertEquals(
    [env["PAGER"], env["GIT_PAGER"], env["GIT_TERMINAL_PROMPT"], env["TMPDIR"]],
    ["cat", "cat", "0", "/private"],
  );
  assertEquals(env["TERM"], "xterm-256color");
  assertEquals(env["NO_COLOR"], undefined);
  assert(env["PATH"]?.includes("/bin"));
});

Deno.test("a command sees PATH, HOME and LANG and no secret", async () => {
  const parent = {
    PATH: "/usr/bin:/bin",
    HOME: "/home/somebody",
    LANG: "C.UTF-8",
    DEEPSEEK_API_KEY: "hush",
    MY_CREDENTIAL: "hush",
    DSH_HOME: "hush",
  };
  const result = await run("env", { env: shellEnvironment(parent) });
  assert(!result.text.includes("hush"));
  for (const line of ["PATH=/usr/bin:/bin", "HOME=/home/somebody", "LANG=C.UTF-8"]) {
    assert(result.text.split("\n").includes(line), result.text);
  }
});

Deno.test("shellEnvironment() drops a URL with a password, under any name", () => {
  const env = shellEnvironment({
    DATABASE_URL: "postgres://user:pw@db.example/x",
    PROXY: "http://:pw@proxy.example:8080",
    PLAIN_URL: "https://example.com:8080/a@b",
    USER_URL: "ssh://git@example.com/x",
  });
  assertEquals([env.DATABASE_URL, env.PROXY], [undefined, undefined]);
  assertEquals(env.PLAIN_URL, "https://example.com:8080/a@b");
  assertEquals(env.USER_URL, "ssh://git@example.com/x");
});
