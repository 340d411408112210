import { assertEquals, assertGreater } from "@std/assert";
import { lockProblems, standInHashes } from "./lock_rules.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("lockProblems() finds addresses and hashes of stand-ins", async () => {
  const hashes = await standInHashes(new URL("tests/offline/jsr/", ROOT));
  assertGreater(hashes.length, 2);
  const lock = (extra: unknown) => JSON.stringify({ version: "5", extra }, null, 2);
  assertEquals(await lockProblems(lock({ integrity: "sha512-abc" }), ROOT), []);
  assertEquals((await lockProblems(lock({ integrity: hashes[0] }), ROOT)).length, 1);
  assertEquals((await lockProblems(lock(["http://registry/x.tgz", "file:///x"]), ROOT)).length, 2);
});
