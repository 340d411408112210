import { assertEquals } from "@std/assert";
import { stripControl } from "../../tools/control_text.ts";
import { ControlStream } from "../../bash/_control_stream.ts";

Deno.test("stripControl() removes what a terminal would not print", () => {
  for (
    const [raw, text] of [
      ["plain\ttext\n", "plain\ttext\n"],
      ["\x1b[1;32mgreen\x1b[0m", "green"],
      ["\x1b]0;title\x07text", "text"],
      ["\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"],
      ["\x1bPq#0;2\x1b\\after", "after"],
      ["\x9b31mred", "red"],
      ["\x1b(Bascii\x1b=\x1b>", "ascii"],
      ["bell\x07 nul\x00 del\x7f", "bell nul del"],
      ["\x1b[?25lhidden\x1b[?25h", "hidden"],
      ["cut \x1b[3", "cut "],
      ["cut \x1b]0;title", "cut "],
      ["unfinished \x1b]0;title\nnext", "unfinished \nnext"],
      ["a\r\nb\r\n", "a\nb\n"],
      ["10%\r50%\r100%\n", "100%\n"],
      ["10%\r50%\r", "50%"],
      ["10%\r\x1b[K50%\r\x1b[K\n", "50%\n"],
      ["a\nb\rc\nd", "a\nc\nd"],
      ["N\bNA\bA", "NA"],
      ["\b\bx", "x"],
      ["😀\b!", "!"],
    ] as const
  ) {
    assertEquals(stripControl(raw), text, JSON.stringify(raw));
  }
});

Deno.test("ControlStream gives the same text wherever its input is cut", () => {
  const raw =
    "a\x1b[31mred\x1b[0m\r\n10%\r\x1b[K50%\r100%\n\x1b]0;t\x07x\by\bz\x1bPq\x1b\\\r\rend\x9b1m!\r";
  const whole = stripControl(raw);
  for (let first = 0; first <= raw.length; first++) {
    for (let second = first; second <= raw.length; second++) {
      const stream = new ControlStream();
      const text = [raw.slice(0, first), raw.slice(first, second), raw.slice(second)]
        .map((piece) => stream.push(piece)).join("") + stream.end();
      assertEquals(text, whole, `cut at ${first} and ${second}`);
    }
  }
});

Deno.test("ControlStream keeps one line of ten thousand frames", () => {
  const stream = new ControlStream();
  let text = "";
  for (let frame = 1; frame <= 10_000; frame++) text += stream.push(`frame ${frame}\r`);
  assertEquals(text + stream.push("\n") + stream.end(), "frame 10000\n");
});

Deno.test("ControlStream lets go of a line without end", () => {
  const stream = new ControlStream();
  let longest = 0;
  let length = 0;
  for (let piece = 0; piece < 100; piece++) {
    const text = stream.push("x".repeat(10_000));
    longest = Math.max(longest, text.length);
    length += text.length;
  }
  assertEquals(length + stream.end().length, 1_000_000);
  assertEquals(longest > 0 && longest < 100_000, true);
});
