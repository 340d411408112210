import { assertEquals } from "@std/assert";
import { classifyCommand } from "../../bash/classify.ts";
import { loadShellParser } from "../../bash/shell_parser.ts";

const parser = await loadShellParser();

Deno.test("classifyCommand() shows reading as reading, with places", () => {
  for (
    const [command, title, locations] of [
      ["cat a.ts", "Read a.ts", [{ path: "a.ts" }]],
      ["cat -n 'my file' b", "Read my file, b", [{ path: "my file" }, { path: "b" }]],
      ["  cat /etc/hosts  ", "Read /etc/hosts", [{ path: "/etc/hosts" }]],
      ["head -n 20 a", "Read a", [{ path: "a" }]],
      ["head -20 a", "Read a", [{ path: "a" }]],
      ["tail -n +5 a", "Read a", [{ path: "a" }]],
      ["sed -n '1,20p' a", "Read a (1 - 20)", [{ path: "a", line: 1 }]],
      ["sed -n 7p a", "Read a (7 - 7)", [{ path: "a", line: 7 }]],
      ['sed -n "5,$p" a', undefined, undefined],
      ["sed -n '5,$p' a", "Read a (from line 5)", [{ path: "a", line: 5 }]],
    ] as const
  ) {
    const view = classifyCommand(command, { parser });
    if (title === undefined) assertEquals(view, { type: "terminal" }, command);
    else {
      assertEquals(
        view,
        { type: "generic", kind: "read", title, rawInput: { command }, locations: [...locations] },
        command,
      );
    }
  }
});

Deno.test("classifyCommand() places files in the workdir", () => {
  const view = classifyCommand("cat a /b", { parser, workdir: "sub" });
  assertEquals(view.type === "generic" && view.locations, [{ path: "sub/a" }, { path: "/b" }]);
});

Deno.test("classifyCommand() shows searching as searching", () => {
  for (
    const command of [
      "grep -rn 'a;b' src",
      "rg TODO",
      "find . -name '*.ts' -not -path './node_modules/*'",
      "ls -la",
      "ls *.ts",
    ]
  ) {
    assertEquals(classifyCommand(command, { parser }), {
      type: "generic",
      kind: "search",
      title: command,
      rawInput: { command },
    }, command);
  }
});

Deno.test("classifyCommand() shows everything else as a command in a terminal", () => {
  for (
    const command of [
      "",
      " ",
      "make",
      "cat",
      "cat -",
      "cat a | head",
      "cat a; rm b",
      "cat a && rm b",
      "cat a || rm b",
      "cat a &",
      "cat a\nrm b",
      "cat a > b",
      "cat < a",
      "cat <<< a",
      "cat <<END\nEND",
      "cat $(rm b)",
      "cat `rm b`",
      "cat <(rm b)",
      "cat $HOME/a",
      'cat "$a"',
      "cat ~/a",
      "cat *.ts",
      "cat {a,b}",
      "A=1 cat a",
      "! cat a",
      "time cat a",
      "(cat a)",
      "{ cat a; }",
      "if true; then cat a; fi",
      "cat 'unfinished",
      "cat a)",
      "cat a # why",
      "cat --help",
      "tail -f log",
      "sed -i s/a/b/ a",
      "sed -n '1,5w out' a",
      "sed -n -e 1p a",
      "sed -n 1p",
      "find . -delete",
      "find . -exec rm {} +",
      "find . -fprint out",
      "rg --pre sh x",
      "sudo cat a",
      "c\\at a",
      "'cat' a",
      "/tmp/cat a",
      "grep a b > c",
    ]
  ) {
    assertEquals(classifyCommand(command, { parser }), { type: "terminal" }, command);
  }
});
