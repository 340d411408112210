/** How the chat draws updates. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { Drawing } from "../../acp/commands/chat/drawing.ts";
import { agentCommand } from "../../acp/commands/chat/agent_command.ts";
import { PasteFilter, withNewlines } from "../../acp/commands/chat/_paste_filter.ts";

function draw(updates: readonly SessionUpdate[], colour = false): string {
  const drawing = new Drawing({ colour });
  return updates.map((update) => drawing.draw(update)).join("") + drawing.end();
}

function said(text: string, kind: "message" | "thought" = "message"): SessionUpdate {
  return { sessionUpdate: `agent_${kind}_chunk`, content: { type: "text", text } };
}

function terminal(id: string, title: string): SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId: id,
    title,
    kind: "execute",
    status: "in_progress",
    content: [{ type: "terminal", terminalId: id }],
  };
}

function output(id: string, data: string): SessionUpdate {
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: id,
    _meta: { terminal_output: { terminal_id: id, data } },
  };
}

function exit(id: string, code: number): SessionUpdate {
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: id,
    status: code === 0 ? "completed" : "failed",
    _meta: { terminal_exit: { terminal_id: id, exit_code: code } },
  };
}

function edit(content: ToolCallContent[], more: Partial<SessionUpdate> = {}): SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId: "e",
    title: "Edit f",
    kind: "edit",
    status: "in_progress",
    content,
    ...more,
  } as SessionUpdate;
}

Deno.test("Drawing sets blocks off by one blank line, wherever newlines come", () => {
  for (const texts of [["Hello\n\n", "\n"], ["\n\nHel", "lo"], ["Hello", "\n", "\n\n"]]) {
    const drawn = draw([said("Hm\n", "thought"), ...texts.map((text) => said(text)), {
      sessionUpdate: "plan",
      entries: [
        { content: "one", status: "completed", priority: "medium" },
        { content: "two", status: "in_progress", priority: "medium" },
      ],
    }]);
    assertEquals(drawn, "~ Hm\n\nHello\n\n[x] one\n[>] two\n");
  }
});

Deno.test("Drawing keeps the output of commands that run side by side apart", () => {
  assertEquals(
    draw([
      terminal("a", "first"),
      output("a", "one\n"),
      terminal("b", "second\nline"),
      output("b", "two\n"),
      output("a", "three"),
      exit("a", 0),
      exit("b", 1),
    ]),
    [
      "$ first",
      "│ one",
      "",
      "$ second",
      "  line",
      "│ two",
      "",
      "$ first",
      "│ three",
      "✓ exit 0",
      "",
      "$ second",
      "  line",
      "✗ exit 1",
      "",
    ].join("\n"),
  );
});

Deno.test("Drawing shows a change once: before an approval, or when it is done", () => {
  const diff: ToolCallContent = {
    type: "diff",
    path: "/f",
    oldText: "a\nb\nc\n",
    newText: "a\nB\nc\n",
  };
  const lines = "│   a\n│ - b\n│ + B\n│   c\n";
  const done: SessionUpdate = {
    sessionUpdate: "tool_call_update",
    toolCallId: "e",
    status: "completed",
    content: [diff],
  };
  const asked: SessionUpdate = {
    sessionUpdate: "tool_call_update",
    toolCallId: "e",
    status: "pending",
    content: [{ type: "content", content: { type: "text", text: "Why\n".repeat(30) } }, diff],
  };
  assertEquals(draw([edit([diff]), done]), `● Edit f\n${lines}`);
  assertEquals(
    draw([edit([diff]), asked, done]),
    `● Edit f\n${"│ Why\n".repeat(30)}${lines}✓ done\n`,
  );
});

Deno.test("Drawing says how much of a long change and a long result it leaves out", () => {
  const newText = Array.from({ length: 300 }, (_, index) => `${index}\n`).join("");
  const drawn = draw([edit([]), {
    sessionUpdate: "tool_call_update",
    toolCallId: "e",
    status: "completed",
    content: [{ type: "diff", path: "/f", oldText: null, newText }],
  }]);
  assertEquals(drawn.split("\n").slice(-3), ["│ + 99", "│ … 200 more lines", ""]);
  const failed = draw([edit([]), {
    sessionUpdate: "tool_call_update",
    toolCallId: "e",
    status: "failed",
    content: [{ type: "content", content: { type: "text", text: newText } }],
  }]);
  assertEquals(failed.split("\n").slice(-4), ["│ 19", "│ … 280 more lines", "✗ failed", ""]);
});

/** Colours, and sequences that must not get through, some of them unfinished. */
const HOSTILE =
  "a\x1b[31mred\x1b]0;title\x07\x1b[2J\x1b[5;5Hb\nc\x1bPq\x1b\\\x9b2Jd\x1b[0m\r\nx\rye\bf" +
  "\x1b[1;4mg\u202eh\n\x1b[38;5;1mi\x1b[6n\x1b";

Deno.test("Drawing lets colours of a command through, and no other sequence, however it is cut", () => {
  const drawings = new Set<string>();
  for (let first = 0; first <= HOSTILE.length; first++) {
    for (let second = first; second <= HOSTILE.length; second += 7) {
      const drawn = draw([
        terminal("a", "c"),
        output("a", HOSTILE.slice(0, first)),
        output("a", HOSTILE.slice(first, second)),
        output("a", HOSTILE.slice(second)),
        exit("a", 0),
      ], true);
      // deno-lint-ignore no-control-regex -- they are what is looked for
      const rest = drawn.replace(/\x1b\[[0-9;:]*m|\r\x1b\[K/g, "");
      // deno-lint-ignore no-control-regex -- they are what is looked for
      assertEquals(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.exec(rest), null);
      for (const line of drawn.split("\n")) {
        // deno-lint-ignore no-control-regex -- they are what is looked for
        const last = [...line.matchAll(/\x1b\[[0-9;:]*m/g)].at(-1)?.[0];
        assertEquals(last ?? "\x1b[0m", "\x1b[0m", line);
      }
      drawings.add(rest);
    }
  }
  // What is read does not depend on the cuts.
  assertEquals([...drawings], ["$ c\n│ aredb\n│ cd\n│ x│ yefg\\u202eh\n│ i\n✓ exit 0\n"]);
});

Deno.test("Drawing lets no colour hide text, and takes no part of a colour for one that does", () => {
  const shown = (style: string) =>
    draw([terminal("a", "c"), output("a", `${style}x\n`)], true).includes(style);
  for (const style of ["\x1b[8m", "\x1b[1;8m", "\x1b[38;5;1;8m", "\x1b[38;2;1;2;3;8m"]) {
    assertEquals(shown(style), false, style);
  }
  for (const style of ["\x1b[1m", "\x1b[38;5;8m", "\x1b[48;2;8;8;8m", "\x1b[58:5:8m"]) {
    assertEquals(shown(style), true, style);
  }
});

Deno.test("Drawing spells out the controls of what is to be approved, and hides nothing", () => {
  const evil = "a\x1b]; b \x07c\rd\x9b31me\bf";
  const spelled = "a\\u001b]; b \\u0007c\\u000dd\\u009b31me\\u0008f";
  assertEquals(
    draw([terminal("a", evil), {
      sessionUpdate: "tool_call_update",
      toolCallId: "a",
      status: "pending",
      content: [
        { type: "content", content: { type: "text", text: evil } },
        { type: "terminal", terminalId: "a" },
      ],
    }]),
    `$ ${spelled}\n│ ${spelled}\n`,
  );
  const diff = { type: "diff", path: "/f", oldText: `${evil}\r\n`, newText: "new\r\n" } as const;
  assertStringIncludes(
    draw([edit([diff], { status: "pending" }), {
      sessionUpdate: "tool_call_update",
      toolCallId: "e",
      status: "pending",
    }]),
    `│ - ${spelled}\n│ + new\n`,
  );
});

Deno.test("Drawing goes on with a command's colours in its next line", () => {
  const drawn = draw([terminal("a", "c"), output("a", "\x1b[32mone\ntw"), output("a", "o")], true);
  assertEquals(
    drawn.slice(drawn.indexOf("│")),
    "│ \x1b[32mone\x1b[0m\n│ \x1b[32mtw\x1b[0m\x1b[32mo\x1b[0m\n",
  );
});

Deno.test("PasteFilter keeps pasted lines together, wherever the paste is cut", () => {
  const keys = "ab\x1b[A\x1b[200~one\r\ntwo\nth\tree\x03\x1b[201~\r";
  for (let at = 0; at <= keys.length; at++) {
    // The first character of a marker is a key as well.
    if (at === keys.indexOf("\x1b[200~") + 1) continue;
    const filter = new PasteFilter();
    const shown = filter.push(keys.slice(0, at)) + filter.push(keys.slice(at));
    // A "\r\n" that is cut is two newlines.
    assertEquals(
      withNewlines(shown).replace("one\n\n", "one\n"),
      "ab\x1b[Aone\ntwo\nth  ree\r",
      `cut at ${at}`,
    );
  }
});

Deno.test("agentCommand starts the program it is part of, whatever that was started from", () => {
  const facts = { execPath: "/deno", mainModule: "", standalone: false, hasKv: true };
  const start = (mainModule: string, more = {}) =>
    agentCommand({ ...facts, mainModule, ...more }, ["--kv=x"]).join(" ");
  assertEquals(start("file:///a/mod.ts"), "/deno run -A --unstable-kv file:///a/mod.ts --kv=x");
  assertEquals(
    start("https://jsr.io/@dsh/acp/1.2.3/mod.ts", { hasKv: false }),
    "/deno run -A jsr:@dsh/acp@1.2.3 --kv=x",
  );
  assertEquals(start("file:///tmp/mod.ts", { standalone: true }), "/deno --kv=x");
});
