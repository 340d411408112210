import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { mcpToolName } from "../../../tools/mcp/names.ts";

const ACCEPTED = /^[a-zA-Z0-9_-]{1,64}$/;

Deno.test("a name that is accepted stays as it is", () => {
  assertEquals(mcpToolName("docs", "get-page"), "mcp__docs__get-page");
});

Deno.test("other names are made acceptable and stay apart", () => {
  const long = "x".repeat(80);
  const names = [["a b", "t"], ["a_b", "t"], ["a.b", "t"], ["ä", "t"], ["a", long], [
    "a",
    `${long}y`,
  ]]
    .map(([server, tool]) => mcpToolName(server ?? "", tool ?? ""));
  for (const name of names) assert(ACCEPTED.test(name), name);
  assertEquals(new Set(names).size, names.length);
});

Deno.test("a taken name is not given twice", () => {
  const taken = new Set([mcpToolName("a", "b__c")]);
  const second = mcpToolName("a__b", "c", (name) => taken.has(name));
  assertNotEquals(second, "mcp__a__b__c");
  assert(ACCEPTED.test(second), second);
});
