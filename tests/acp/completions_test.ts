import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PROVIDERS } from "../../session/model/known_models.ts";
import { COMMANDS } from "../../acp/_command_line.ts";
import { programCommand } from "../helpers/program.ts";
import { runCommand } from "../helpers/run_command.ts";

// No home: what is printed depends on no setting.
const env = { ...Deno.env.toObject(), DSH_LOG: "nonsense" };

async function output(...args: string[]): Promise<string> {
  const { code, text, stderr } = await runCommand(args, { env });
  assertEquals(code, 0, stderr);
  return text;
}

/** The commands and options that `--help` shows. */
async function shown(): Promise<{ commands: string[]; options: string[] }> {
  const [, commands = "", options = ""] = /Commands:\n(.*?)\n\nOptions:\n(.*?)\n\n/s
    .exec(await output("--help")) ?? [];
  return {
    commands: [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name!),
    options: [...options.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name]) => name!),
  };
}

/** What bash offers for a line whose last word is being typed. */
async function offered(script: string, ...words: string[]): Promise<string[]> {
  const program = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dsh_acp; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, success } = await new Deno.Command("bash", {
    args: ["--norc", "-c", program, "bash", "dsh-acp", ...words],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
}

Deno.test({
  name: "bash completes what --help shows",
  ignore: Deno.build.os === "windows",
  async fn() {
    const script = await output("completions", "bash");
    const { commands, options } = await shown();
    assertEquals(await offered(script, ""), [...commands, ...options]);
    assertEquals(await offered(script, "--kv=x", "lo"), ["login", "logout"]);
    assertEquals(await offered(script, "--sandbox-network", ""), ["on", "off"]);
    assertEquals(await offered(script, "--model", ""), []);
    assertEquals(await offered(script, "login", "an"), ["anthropic"]);
    assertEquals(await offered(script, "login", "openai", "--b"), ["--base-url"]);
    assertEquals(await offered(script, "repair", "--w"), ["--write"]);
    assertEquals(
      (await offered(script, "import", "/etc/host")).sort(),
      await files("/etc", "host"),
    );
  },
});

async function files(folder: string, start: string): Promise<string[]> {
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  return names.filter((name) => name.startsWith(start)).sort().map((name) => `${folder}/${name}`);
}

for (const shell of ["zsh", "fish"]) {
  Deno.test(`${shell} completes what --help shows`, async () => {
    const script = await output("completions", shell);
    const { commands, options } = await shown();
    const [entry, flag] = shell === "zsh"
      ? [/^ {4}'(\w+):/gm, /'--([\w-]+)\[/g]
      : [/-n 'not [^']*' -a (\w+) /g, / -l ([\w-]+) /g];
    assertEquals([...script.matchAll(entry)].map(([, name]) => name), commands);
    const flags = new Set([...script.matchAll(flag)].map(([, name]) => `--${name}`));
    for (const option of options) assert(flags.has(option), option);
    assert(flags.has("--base-url") && flags.has("--older-than"));
  });
}

Deno.test("completions: another shell is refused", async () => {
  const { code, text, stderr } = await runCommand(["completions", "tcsh"], { env });
  assertEquals([code, text], [2, ""]);
  assertStringIncludes(stderr, 'one of bash, zsh, fish; got "tcsh"');
});

Deno.test("login is completed with the providers there are", () => {
  assertEquals<readonly string[]>(COMMANDS.login.choices, Object.keys(PROVIDERS));
});

Deno.test({
  name: "what nobody reads any more is no failure",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const args of [["--help"], ["--version"], ["completions", "bash"]]) {
      const command = [...programCommand(), ...args];
      // The reader is gone before the program starts to write.
      const script = 'exec 3> >(:); sleep 0.1; "$@" >&3';
      const { code, stderr } = await new Deno.Command("bash", {
        args: ["-c", script, "bash", ...command],
      }).output();
      assertEquals([code, new TextDecoder().decode(stderr)], [0, ""], args.join(" "));
    }
  },
});
