import { assertEquals, assertStringIncludes } from "@std/assert";
import { policy, Workspace } from "./_workspace.ts";

async function opened(content: string | Uint8Array): Promise<Workspace> {
  const ws = await Workspace.open();
  await ws.put("a", content);
  await ws.call("read", { file_path: "a" });
  return ws;
}

function edit(old_string: string, new_string: string, replace_all?: boolean): object {
  return { file_path: "a", old_string, new_string, ...(replace_all && { replace_all }) };
}

Deno.test("edit() replaces the one occurrence and shows the hunk", async () => {
  await using ws = await opened("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  const args = edit("5", "five");
  const result = await ws.call("edit", args);
  assertEquals(result.content, [{ type: "text", text: "Edited a (1 line added, 1 removed)" }]);
  assertEquals(await ws.get("a"), "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
  assertEquals(ws.tools.presentResult("edit", JSON.stringify(args), result), {
    type: "diff",
    diffs: [{ path: "a", oldText: "2\n3\n4\n5\n6\n7\n8\n", newText: "2\n3\n4\nfive\n6\n7\n8\n" }],
    locations: [{ path: "a", line: 5 }],
  });
  assertEquals(ws.tools.presentCall("edit", JSON.stringify(args)), {
    type: "diff",
    title: "Edit a",
    diffs: [{ path: "a", oldText: "5", newText: "five" }],
    locations: [{ path: "a" }],
  });
});

Deno.test("edit() may follow an edit without reading again", async () => {
  await using ws = await opened("x");
  await ws.call("edit", edit("x", "y"));
  await ws.call("edit", edit("y", "z"));
  assertEquals(await ws.get("a"), "z");
});

Deno.test("edit() refuses what was not read, or has changed since", async () => {
  await using ws = await Workspace.open();
  await ws.put("a", "x");
  const unseen = await ws.text("edit", edit("x", "y"));
  assertStringIncludes(unseen, 'Cannot edit "a" as an existing file must be read first');
  await ws.call("read", { file_path: "a" });
  await ws.put("a", "x and more");
  assertStringIncludes(await ws.text("edit", edit("x", "y")), "Read it again");
  assertEquals(await ws.get("a"), "x and more");
});

Deno.test("edit() counts observations per session", async () => {
  await using one = await opened("x");
  await using two = await Workspace.open();
  two.policy = one.policy;
  const args = { file_path: one.path("a"), old_string: "x", new_string: "y" };
  assertStringIncludes(await two.text("edit", args), "must be read first");
});

Deno.test("edit() takes special characters literally", async () => {
  await using ws = await opened("a $& b\n");
  await ws.call("edit", edit("$&", "$1 $$ $` \\n"));
  assertEquals(await ws.get("a"), "a $1 $$ $` \\n b\n");
});

Deno.test("edit() names the lines of several occurrences", async () => {
  await using ws = await opened("x\ny\nx\n\nx");
  assertStringIncludes(
    await ws.text("edit", edit("x", "z")),
    "must occur exactly once: it occurs 3 times, at lines 1, 3, 5",
  );
  assertEquals(
    await ws.text("edit", edit("x", "xx", true)),
    "Edited a (3 replacements, 3 lines added, 3 removed)",
  );
  assertEquals(await ws.get("a"), "xx\ny\nxx\n\nxx");
});

Deno.test("edit() says what comes near when nothing matches", async () => {
  await using ws = await opened("first\n  if (a) {\n    b();\n  }\n");
  const hint = async (old: string) => await ws.text("edit", edit(old, "new"));
  assertEquals(
    await hint("nowhere"),
    'Error: Cannot edit "a" as old_string does not occur in it',
  );
  assertStringIncludes(
    await hint("if (a) {\n  b();\n}"),
    "Line 2 and what follows differ from it only in white space",
  );
  assertStringIncludes(
    await hint("  if (a) {\n    c();\n  }"),
    "Its first line is at line 2, but line 3 differs",
  );
  assertStringIncludes(await hint("2:   if (a) {\n3:     b();"), "without the line numbers");
});

Deno.test("edit() matches CRLF files with LF text and restores CRLF", async () => {
  await using ws = await opened("one\r\ntwo\r\nthree\r\n");
  const result = await ws.call("edit", edit("two\nthree", "2\nzwei\n3"));
  assertEquals(await ws.get("a"), "one\r\n2\r\nzwei\r\n3\r\n");
  assertEquals(result.meta, {
    diffs: [{ path: "a", oldText: "one\ntwo\nthree\n", newText: "one\n2\nzwei\n3\n", line: 2 }],
    added: 3,
    removed: 2,
    omitted: 0,
  });
});

Deno.test("edit() leaves other lines of a file with mixed endings alone", async () => {
  await using ws = await opened("a\r\nb\nc\r\nd\ne\r\n");
  await ws.call("edit", edit("c\n", "C\nC\n"));
  assertEquals(await ws.get("a"), "a\r\nb\nC\r\nC\r\nd\ne\r\n");
  await ws.call("edit", edit("b", "B"));
  assertEquals(await ws.get("a"), "a\r\nB\nC\r\nC\r\nd\ne\r\n");
});

Deno.test("edit() keeps a byte order mark and a missing last newline", async () => {
  await using ws = await opened("\uFEFFone\ntwo");
  await ws.call("edit", edit("one", "1"));
  assertEquals(
    [...(await Deno.readFile(ws.path("a")))],
    [0xef, 0xbb, 0xbf, ...new TextEncoder().encode("1\ntwo")],
  );
  const result = await ws.call("edit", edit("two", "2"));
  const diffs = [{ path: "a", oldText: "1\ntwo", newText: "1\n2", line: 2 }];
  assertEquals(result.meta?.diffs, diffs);
});

Deno.test("edit() refuses what it cannot write back", async () => {
  await using ws = await opened(new Uint8Array([0x68, 0xe9, 0x0a]));
  const text = await ws.text("edit", edit("h", "H"));
  assertEquals(text, 'Error: Cannot edit "a" as it is not UTF-8 text');
  assertEquals([...(await Deno.readFile(ws.path("a")))], [0x68, 0xe9, 0x0a]);
});

Deno.test("edit() validates its arguments", async () => {
  await using ws = await opened("x");
  assertStringIncludes(await ws.text("edit", edit("", "x")), "old_string: must not be empty");
  assertStringIncludes(await ws.text("edit", edit("x", "x")), "new_string: must differ");
  assertStringIncludes(
    await ws.text("edit", { ...edit("x", "y"), file_path: "a\0b" }),
    "file_path: must not contain a NUL",
  );
});

Deno.test("edit() refuses missing files, folders and what the policy forbids", async () => {
  await using ws = await opened("x");
  await Deno.mkdir(ws.path("dir"));
  const at = (file_path: string) => ws.text("edit", { ...edit("x", "y"), file_path });
  assertStringIncludes(await at("ab"), 'Cannot edit "ab" as it does not exist');
  assertStringIncludes(await at("dir"), "must be a regular file: it is a folder");
  ws.policy = policy("read-only");
  assertStringIncludes(await at("a"), 'the sandbox mode "read-only" allows no writes at all');
  assertEquals(await ws.get("a"), "x");
});

Deno.test("edit() keeps mode and link", async () => {
  await using ws = await opened("x");
  await Deno.chmod(ws.path("a"), 0o600);
  await Deno.symlink("a", ws.path("link"));
  await ws.call("read", { file_path: "link" });
  await ws.call("edit", { ...edit("x", "y"), file_path: "link" });
  assertEquals(await ws.get("a"), "y");
  assertEquals(((await Deno.stat(ws.path("a"))).mode ?? 0) & 0o777, 0o600);
  assertEquals((await Deno.lstat(ws.path("link"))).isSymlink, true);
});
