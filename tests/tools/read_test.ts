import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Workspace } from "./_workspace.ts";

/** The lines of a result between the content marks. */
function body(text: string): string {
  return text.slice(text.indexOf("<content>\n") + 10, text.lastIndexOf("\n</content>"));
}

Deno.test("read() numbers lines and names the end", async () => {
  await using ws = await Workspace.open();
  await ws.put("a.txt", "one\n\nthree");
  assertEquals(
    await ws.text("read", { file_path: "a.txt" }),
    `<path>${ws.path("a.txt")}</path>\n<type>file</type>\n<content>\n1: one\n2: \n3: three\n` +
      "</content>\n(End of file - total 3 lines)",
  );
  await ws.put("b.txt", "one\n\nthree\n");
  assertStringIncludes(await ws.text("read", { file_path: "b.txt" }), "total 3 lines");
});

Deno.test("read() says that a file is empty", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", "");
  const text = await ws.text("read", { file_path: "a" });
  assertStringIncludes(text, "(Empty file)");
  assertStringIncludes(
    await ws.text("read", { file_path: "a", offset: 2 }),
    'Error: Cannot read "a" from line 2 as it must be a line of the file: the file has 0',
  );
});

Deno.test("read() shows a window and says how to go on", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join(""));
  const middle = await ws.text("read", { file_path: "a", offset: 4, limit: 2 });
  assertEquals(body(middle), "4: line 4\n5: line 5");
  assertStringIncludes(middle, "(Showing lines 4-5. Use offset=6 to go on)");
  const last = await ws.text("read", { file_path: "a", offset: 9, limit: 2 });
  assertStringIncludes(last, "(End of file - total 10 lines)");
  assertStringIncludes(
    await ws.text("read", { file_path: "a", offset: 11 }),
    "the file has 10",
  );
});

Deno.test("read() stops at 2000 lines and at 50 KiB", async () => {
  await using ws = await Workspace.open();
  await ws.put("lines", "x\n".repeat(2001));
  const lines = await ws.text("read", { file_path: "lines" });
  assertEquals(body(lines).split("\n").length, 2000);
  assertStringIncludes(lines, "(Showing lines 1-2000. Use offset=2001 to go on)");
  await ws.put("exact", "x\n".repeat(2000));
  assertStringIncludes(await ws.text("read", { file_path: "exact" }), "total 2000 lines");

  await ws.put("bytes", `${"é".repeat(500)}\n`.repeat(200));
  const bytes = await ws.text("read", { file_path: "bytes" });
  const shown = body(bytes).split("\n").length;
  assertEquals(shown, Math.floor(50 * 1024 / 1001));
  assertStringIncludes(bytes, `capped at 51200 bytes. Showing lines 1-${shown}.`);
});

Deno.test("read() cuts long lines without splitting a character", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", `${"x".repeat(1999)}😀😀\nshort\n`);
  const [first, second] = body(await ws.text("read", { file_path: "a" })).split("\n");
  assertEquals(first, `1: ${"x".repeat(1999)}... (line truncated to 2000 chars)`);
  assertEquals(second, "2: short");
  await ws.put("b", `${"文".repeat(2000)}\n`);
  assertEquals(body(await ws.text("read", { file_path: "b" })), `1: ${"文".repeat(2000)}`);
});

Deno.test("read() takes CRLF and a byte order mark off", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", "\uFEFFone\r\ntwo\r\n");
  assertEquals(body(await ws.text("read", { file_path: "a" })), "1: one\n2: two");
});

Deno.test("read() keeps characters that lie across chunks", async () => {
  await using ws = await Workspace.open();
  const line = `${"é文😀".repeat(30)}\n`;
  await ws.put("a", `x${line.repeat(1500)}`);
  const text = await ws.text("read", { file_path: "a", offset: 1000, limit: 50 });
  assertEquals(new Set(body(text).split("\n").map((row) => row.replace(/^\d+: /, ""))).size, 1);
  assert(!text.includes("\uFFFD"));
});

Deno.test("read() says what it decoded and what it could not", async () => {
  await using ws = await Workspace.open();
  const utf16 = new Uint8Array([0xff, 0xfe, ...[..."hé\n"].flatMap((c) => [c.charCodeAt(0), 0])]);
  await ws.put("utf16", utf16);
  const decoded = await ws.text("read", { file_path: "utf16" });
  assertEquals(body(decoded), "1: hé");
  assertStringIncludes(decoded, "Decoded from utf-16le");
  await ws.put("latin1", new Uint8Array([0x68, 0xe9, 0x0a]));
  const invalid = await ws.text("read", { file_path: "latin1" });
  assertEquals(body(invalid), "1: h\uFFFD");
  assertStringIncludes(invalid, "not UTF-8 show as U+FFFD");
  await ws.put("honest", "a real \uFFFD\n");
  assert(!(await ws.text("read", { file_path: "honest" })).includes("not UTF-8"));
});

Deno.test("read() refuses binary files", async () => {
  await using ws = await Workspace.open();
  await ws.put("a.bin", new Uint8Array([1, 2, 0, 3]));
  assertStringIncludes(
    await ws.text("read", { file_path: "a.bin" }),
    'Error: Cannot read "a.bin" as it must be text or an image: it is a binary file of 4 bytes',
  );
});

Deno.test("read() returns images by their content, up to a size", async () => {
  await using ws = await Workspace.open();
  const heads: Record<string, number[]> = {
    "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0],
    "image/jpeg": [0xff, 0xd8, 0xff, 0xe0, 0],
    "image/gif": [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0],
    "image/webp": [0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50],
  };
  for (const [mimeType, head] of Object.entries(heads)) {
    const bytes = new Uint8Array(20_000);
    bytes.set(head);
    bytes[19_999] = 7;
    await ws.put("picture.txt", bytes);
    const result = await ws.call("read", { file_path: "picture.txt" });
    const image = { type: "image" as const, mimeType, data: bytes.toBase64() };
    assertEquals(result.content[1], image);
    const view = await ws.view("read", { file_path: "picture.txt" });
    assertEquals(view, { type: "generic", content: [image] });
  }
  const large = new Uint8Array(3_750_001);
  large.set(heads["image/png"] ?? []);
  await ws.put("large.png", large);
  assertStringIncludes(await ws.text("read", { file_path: "large.png" }), "it has 3750001");
});

Deno.test("read() lists folders in pages", async () => {
  await using ws = await Workspace.open();
  await ws.put("dir/b.txt", "");
  await ws.put("dir/.hidden", "");
  await ws.put("dir/sub/x", "");
  await Deno.symlink("nowhere", ws.path("dir/link"));
  const text = await ws.text("read", { file_path: "dir" });
  assertStringIncludes(
    text,
    "<type>directory</type>\n<entries>\n.hidden\nb.txt\nlink -> nowhere\nsub/\n</entries>\n" +
      "(Total 4 entries)",
  );
  const page = await ws.text("read", { file_path: "dir", offset: 2, limit: 1 });
  assertStringIncludes(page, "<entries>\nb.txt\n</entries>\n(Showing entries 2-2 of 4.");
});

Deno.test("read() suggests names that come near", async () => {
  await using ws = await Workspace.open();
  await ws.put("Readme.md", "");
  await ws.put("café\u202Fmenu.txt", "");
  assertStringIncludes(
    await ws.text("read", { file_path: "README.txt" }),
    'as it does not exist. Its folder has "Readme.md"',
  );
  assertStringIncludes(
    await ws.text("read", { file_path: "cafe\u0301 menu.txt" }),
    'Its folder has "café\u202Fmenu.txt"',
  );
  assertEquals(
    await ws.text("read", { file_path: "no/where" }),
    'Error: Cannot read "no/where" as it does not exist',
  );
});

Deno.test("read() does not hang on devices, pipes and sockets", async () => {
  await using ws = await Workspace.open();
  const fifo = await new Deno.Command("mkfifo", { args: [ws.path("fifo")] }).output();
  assert(fifo.success);
  await Deno.symlink("/dev/zero", ws.path("zero"));
  for (
    const [path, kind] of [["fifo", "a named pipe"], ["/dev/zero", "a device"], [
      "zero",
      "a device",
    ]]
  ) {
    const text = await ws.text("read", { file_path: path });
    assertStringIncludes(text, `as it must be a regular file or a folder: it is ${kind}`);
  }
});

Deno.test("read() reads files in /proc, whose size is 0", async () => {
  await using ws = await Workspace.open();
  assertMatch(await ws.text("read", { file_path: "/proc/self/status" }), /\n1: Name:/);
});

Deno.test("read() holds little of a large file in memory", async () => {
  await using ws = await Workspace.open();
  const size = 200 * 1024 * 1024;
  {
    using file = await Deno.open(ws.path("sparse"), { create: true, write: true });
    await file.truncate(size);
  }
  assertStringIncludes(await ws.text("read", { file_path: "sparse" }), `file of ${size} bytes`);

  {
    // One line of 64 MiB, then a short one.
    using file = await Deno.open(ws.path("long"), { create: true, write: true });
    const mebibyte = new Uint8Array(1024 * 1024).fill(120);
    for (let count = 0; count < 64; count++) await file.write(mebibyte);
    await file.write(new TextEncoder().encode("\nlast\n"));
  }
  const before = Deno.memoryUsage().heapTotal + Deno.memoryUsage().external;
  const text = await ws.text("read", { file_path: "long", offset: 2 });
  const grown = Deno.memoryUsage().heapTotal + Deno.memoryUsage().external - before;
  assertEquals(body(text), "2: last");
  assert(grown < 48 * 1024 * 1024, `grew by ${grown} bytes`);
});

Deno.test("read() ends when it is cancelled", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", "x\n");
  ws.signal = AbortSignal.abort();
  assertEquals(
    await ws.text("read", { file_path: "a" }),
    'Error: Cannot read "a" as the call was cancelled',
  );
});

Deno.test("read() takes relative and absolute paths, and .. after links as the system does", async () => {
  await using ws = await Workspace.open();
  await ws.put("sub/a", "inside");
  await Deno.writeTextFile(`${ws.outside}/x`, "outside");
  await Deno.mkdir(`${ws.outside}/deep`);
  await Deno.symlink(`${ws.outside}/deep`, ws.path("link"));
  await ws.put("x", "lexical");
  for (const path of ["sub/a", "./sub/a", "sub/../sub/a", ws.path("sub/a")]) {
    assertEquals(body(await ws.text("read", { file_path: path })), "1: inside");
  }
  assertEquals(body(await ws.text("read", { file_path: "link/../x" })), "1: outside");
  assertStringIncludes(
    await ws.text("read", { file_path: "~/x" }),
    'file_path: "~" is not expanded',
  );
});

Deno.test("read() presents ranges in the title and plain text in the result", async () => {
  await using ws = await Workspace.open();
  const title = (args: object) => ws.tools.presentCall("read", JSON.stringify(args)).title;
  assertEquals(title({ file_path: "a" }), "Read a");
  assertEquals(title({ file_path: "a", offset: 3 }), "Read a (from line 3)");
  assertEquals(title({ file_path: "a", offset: 3, limit: 4 }), "Read a (3 - 6)");
  assertEquals(title({ file_path: "a", limit: 4 }), "Read a (1 - 4)");
  assertEquals(ws.tools.presentCall("read", '{"file_path":"/x/a","offset":3}'), {
    type: "generic",
    title: "Read /x/a (from line 3)",
    kind: "read",
    locations: [{ path: "/x/a", line: 3 }],
  });

  await ws.put("a.ts", "1: kept\n```\n</content>\n<content>\nend");
  assertEquals(await ws.view("read", { file_path: "a.ts" }), {
    type: "generic",
    content: [{ type: "text", text: "````ts\n1: kept\n```\n</content>\n<content>\nend\n````" }],
  });
  assertEquals(await ws.view("read", { file_path: "missing" }), { type: "generic" });
});
