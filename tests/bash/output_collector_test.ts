import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { OutputCollector } from "../../bash/output_collector.ts";
import { run, TempFolder, testContained } from "./_helpers.ts";

const encode = (text: string) => new TextEncoder().encode(text);

async function collect(
  chunks: Iterable<Uint8Array>,
  collector: OutputCollector,
): Promise<Awaited<ReturnType<OutputCollector["finish"]>>> {
  for (const chunk of chunks) await collector.push(chunk);
  return await collector.finish();
}

testContained(
  "runCommand() keeps start and end of long output and all of it in a file",
  async (containment) => {
    await using folder = new TempFolder();
    const dir = `${folder.path}/spill`;
    const streamed: string[] = [];
    const result = await run("seq 200000", {
      containment,
      spill: { dir },
      onOutput: (text) => streamed.push(text),
    });
    const all = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join("");
    assertEquals(result.bytesSeen, all.length);
    assert(result.text.startsWith("1\n2\n3\n"));
    assert(result.text.endsWith("\n199999\n200000\n"));
    assert(result.display.startsWith(streamed.join("")));
    assert(result.display.endsWith("\n199999\n200000\n"));
    assertMatch(result.text, /\n\[\.\.\. (\d+) bytes left out; full output: .*\]\n/);
    const leftOut = Number(/ (\d+) bytes left out/.exec(result.text)![1]);
    assertEquals(result.bytesKept + leftOut, all.length);
    assert(result.bytesKept <= 64_000 && result.bytesKept > 50_000);
    const path = result.fullOutput!;
    assertStringIncludes(result.text, path);
    assertEquals(await Deno.readTextFile(path), all);
    assertEquals((await Deno.stat(dir)).mode! & 0o777, 0o700);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
  },
);

Deno.test("OutputCollector shows no more than its caps and says how much it left out", async () => {
  const line = "0123456789abcde\n";
  const chunk = encode(line.repeat(4096));
  let streamed = 0;
  const collector = new OutputCollector({ onOutput: (text) => streamed += text.length });
  const result = await collect(Array.from({ length: 320 }, () => chunk), collector);
  assertEquals(result.bytesSeen, 20 * 1024 * 1024);
  assertEquals(streamed, 512 * 1024);
  assert(result.display.length < 512 * 1024 + 64 * 1024 + 100);
  const leftOut = Number(/\[\.\.\. (\d+) bytes left out \.\.\.\]/.exec(result.display)![1]);
  const notice = result.display.length - 512 * 1024 - (result.bytesSeen - 512 * 1024 - leftOut);
  assert(notice > 0 && notice < 80, `${notice}`);
  // Past what is cleaned as it arrives, counts still add up.
  const textLeftOut = Number(/\[\.\.\. (\d+) bytes left out \.\.\.\]/.exec(result.text)![1]);
  assertEquals(result.bytesKept + textLeftOut, result.bytesSeen);
  assert(result.text.endsWith(line));
});

Deno.test("OutputCollector makes no file for what it keeps whole", async () => {
  await using folder = new TempFolder();
  const spill = { dir: `${folder.path}/spill` };
  // 1 MB of frames that fold to one line: more than the limit to read, but nothing is left out.
  const frames = Array.from(
    { length: 10_000 },
    (_, index) => encode(`${"#".repeat(90)} ${index}\r`),
  );
  const folded = await collect(frames, new OutputCollector({ spill }));
  assertEquals(folded.text, `${"#".repeat(90)} 9999`);
  assertEquals(folded.fullOutput, undefined);
  assertEquals([...Deno.readDirSync(spill.dir)], []);
  const short = await collect([encode("x")], new OutputCollector({ spill }));
  assertEquals(short.text, "x");
});

Deno.test("OutputCollector caps the file and says so", async () => {
  await using folder = new TempFolder();
  const collector = new OutputCollector({
    spill: { dir: folder.path },
    limits: { text: 100, spill: 1_000 },
  });
  const result = await collect(
    Array.from({ length: 50 }, () => encode("x".repeat(99) + "\n")),
    collector,
  );
  assertEquals((await Deno.stat(result.fullOutput!)).size, 1_000);
  assertStringIncludes(result.text, `; the first 1000 bytes of the output: ${result.fullOutput}`);
});

Deno.test("OutputCollector goes on without a file it cannot write", async () => {
  const collector = new OutputCollector({ spill: { dir: "/dev/null/x" }, limits: { text: 10 } });
  const result = await collect([encode("line 1\nline 2\nline 3\n")], collector);
  assertEquals(result.fullOutput, undefined);
  assertStringIncludes(result.text, "full output not available");
  assertEquals(result.bytesSeen, 21);
});

Deno.test("OutputCollector never cuts a character, wherever a cap falls", async () => {
  const text = "a€😀b\u0301".repeat(40);
  const bytes = encode(text);
  for (let cap = 1; cap < 24; cap++) {
    for (const size of [1, 3, 7, 64, bytes.length]) {
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      let streamed = "";
      const collector = new OutputCollector({
        limits: { displayHead: cap, displayTail: cap, text: cap * 2 },
        onOutput: (part) => streamed += part,
      });
      const result = await collect(chunks, collector);
      assert(result.display.startsWith(streamed));
      for (const kept of [result.display, result.text]) {
        assert(!kept.includes("\ufffd"), `cap ${cap}, chunks of ${size}: ${JSON.stringify(kept)}`);
        assert(kept.isWellFormed());
      }
      assert(text.startsWith(streamed));
    }
  }
});

Deno.test("OutputCollector shows everything where head and tail meet", async () => {
  const text = "a€😀".repeat(100);
  const bytes = encode(text);
  for (const displayHead of [0, 1, 2, 3, 5, 100, 799, 800, 801]) {
    const collector = new OutputCollector({ limits: { displayHead, displayTail: 1_000 } });
    const chunks = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1));
    assertEquals((await collect(chunks, collector)).display, text, `head of ${displayHead}`);
  }
});

Deno.test("OutputCollector leaves the terminal's view alone and cleans the reader's", async () => {
  const raw = "\x1b[32mok\x1b[0m\r\n10%\r100%\n";
  const result = await collect([encode(raw)], new OutputCollector());
  assertEquals(result.display, raw);
  assertEquals(result.text, "ok\n100%\n");
});

testContained("runCommand() goes on without whoever watched it", async (containment) => {
  let calls = 0;
  const result = await run("seq 100000", {
    containment,
    onOutput: () => {
      calls++;
      throw new Error("gone");
    },
  });
  assertEquals(calls, 1);
  assert(result.display.endsWith("\n100000\n"));
  assertEquals(result.exit, { type: "exited", code: 0 });
});
