import {
  assert,
  assertArrayIncludes,
  assertEquals,
  AssertionError,
  assertNotEquals,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";

// These hold for the published @std/assert and for the stand-in: they keep the two alike.

Deno.test("assertEquals() compares deeply, with constructors and absent keys", () => {
  assertEquals({ a: [1, { b: NaN }] }, { a: [1, { b: NaN }] });
  assertEquals(new Map([["k", new Set([1, 2])]]), new Map([["k", new Set([2, 1])]]));
  assertEquals(0, -0);
  assertEquals(Object.create(null), {});
  assertNotEquals<unknown>({ a: undefined }, {});
  assertNotEquals<unknown>([1], { 0: 1 });
  assertNotEquals(new Date(0), new Date(1));
  assertNotEquals(/a/, /a/g);
  class Own {}
  assertNotEquals<unknown>(new Own(), {});
  const ring: { self?: unknown } = {};
  ring.self = ring;
  const other: { self?: unknown } = {};
  other.self = other;
  assertEquals(ring, other);
});

Deno.test("assertEquals() shows what differs", () => {
  const error = assertThrows(
    () => assertEquals({ a: 1, b: "same" }, { a: 2, b: "same" }),
    AssertionError,
    "not equal",
  );
  assertStringIncludes(error.message, "-   ");
  assertStringIncludes(error.message, "+   ");
});

Deno.test("assertStrictEquals() compares by identity", () => {
  assertStrictEquals(NaN, NaN);
  assertThrows(() => assertStrictEquals({}, {}), AssertionError);
  assertThrows(() => assertStrictEquals(0, -0), AssertionError);
});

Deno.test("assertObjectMatch() wants a superset", () => {
  assertObjectMatch({ a: { b: 1, c: [1, { d: 2, e: 3 }] } }, { a: { c: [1, { d: 2 }] } });
  assertThrows(() => assertObjectMatch({ a: { b: 1 } }, { a: { b: 2 } }), AssertionError);
  assertThrows(() => assertObjectMatch({ a: { b: 1 } }, { a: { c: 1 } }), AssertionError);
});

Deno.test("assertArrayIncludes() compares members deeply", () => {
  assertArrayIncludes([{ a: 1 }, { b: 2 }], [{ b: 2 }]);
  assertThrows(() => assertArrayIncludes([1, 2], [3]), AssertionError);
});

Deno.test("assertThrows() returns what was thrown and checks class and message", () => {
  const error = assertThrows(() => JSON.parse("{"), SyntaxError);
  assert(error instanceof SyntaxError);
  assertThrows(() => assertThrows(() => {}), AssertionError, "throw");
  assertThrows(
    () =>
      assertThrows(
        () => {
          throw new RangeError("one");
        },
        RangeError,
        "two",
      ),
    AssertionError,
  );
});

Deno.test("assertRejects() resolves with the rejection and refuses a synchronous exception", async () => {
  const error = await assertRejects(() => Promise.reject(new TypeError("no")), TypeError, "no");
  assertEquals(error.message, "no");
  await assertRejects(() => assertRejects(() => Promise.resolve()), AssertionError, "reject");
  await assertRejects(
    () =>
      assertRejects(() => {
        throw new TypeError("no");
      }),
    AssertionError,
  );
});
