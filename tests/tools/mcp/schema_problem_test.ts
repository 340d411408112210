import { assertEquals, assertStringIncludes } from "@std/assert";
import { schemaProblem } from "../../../tools/mcp/schema_problem.ts";

Deno.test("schemaProblem() accepts what servers send", () => {
  for (
    const schema of [
      { type: "object" },
      { type: "object", properties: {}, required: [], additionalProperties: false },
      {
        type: "object",
        properties: {
          a: { type: ["string", "null"], description: "A" },
          b: { anyOf: [{ type: "integer" }, { $ref: "#/$defs/c" }] },
          c: { type: "array", items: { enum: [1, "two", null] } },
          d: true,
        },
        $defs: { c: { oneOf: [{ const: 1 }], not: { type: "null" } } },
      },
    ]
  ) assertEquals(schemaProblem(schema), undefined);
});

Deno.test("schemaProblem() names what model providers refuse", () => {
  const inObject = (inner: unknown) => ({ type: "object", properties: { a: inner } });
  let deep: unknown = { type: "string" };
  for (let level = 0; level < 100_000; level++) deep = inObject(deep);
  for (
    const [schema, problem] of [
      [undefined, 'not one of type "object"'],
      ["object", 'not one of type "object"'],
      [[], 'not one of type "object"'],
      [{ type: "object", properties: [] }, "not valid"],
      [{ type: "object", required: "a" }, "not valid"],
      [inObject({ type: "colour" }), "not valid"],
      [inObject({ items: 7 }), "not valid"],
      [inObject({ anyOf: {} }), "not valid"],
      [deep, "not valid"],
      [inObject({ description: "d".repeat(40_000) }), "longer than 32000 characters"],
    ] as const
  ) assertStringIncludes(schemaProblem(schema) ?? "none", problem);
});
