import { assertEquals } from "@std/assert";
import {
  type CommandStatus,
  parseStatus,
  type ProcessEnd,
  renderStatus,
} from "../../bash/status.ts";

const ENDS: readonly ProcessEnd[] = [
  { type: "exited", code: 0 },
  { type: "exited", code: 1 },
  { type: "exited", code: 137 },
  { type: "exited", code: 255 },
  { type: "signaled", signal: "SIGKILL" },
  { type: "signaled", signal: "SIG34" },
  { type: "signaled", signal: "SIGRTMIN+1" },
];

const STATUSES: readonly CommandStatus[] = [
  ...ENDS,
  ...ENDS.map((end): CommandStatus => ({ type: "timed_out", afterMs: 120_000, end })),
  ...ENDS.map((end): CommandStatus => ({ type: "cancelled", end })),
];

const CLEAN: CommandStatus = { type: "exited", code: 0 };

Deno.test("renderStatus() writes the documented markers", () => {
  assertEquals(renderStatus("", CLEAN), "(no output)");
  assertEquals(renderStatus("ok\n", CLEAN), "ok\n");
  assertEquals(renderStatus("x", { type: "exited", code: 2 }), "x\n[exit code: 2]");
  assertEquals(renderStatus("", { type: "exited", code: 2 }), "[exit code: 2]");
  assertEquals(
    renderStatus("x", { type: "signaled", signal: "SIGKILL" }),
    "x\n[killed by signal: SIGKILL]",
  );
  assertEquals(
    renderStatus("x", {
      type: "timed_out",
      afterMs: 100,
      end: { type: "signaled", signal: "SIGTERM" },
    }),
    "x\n[killed by signal: SIGTERM]\n[timed out after 100 ms]",
  );
  assertEquals(renderStatus("[exit code: 0]", CLEAN), "[exit code: 0]\n[exit code: 0]");
  assertEquals(renderStatus("(no output)", CLEAN), "(no output)\n[exit code: 0]");
});

/** A small generator (mulberry32), seeded: a failure can be repeated. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const PIECES = [
  "",
  "\n",
  "\n\n",
  " ",
  "text",
  "(no output)",
  "[exit code: 0]",
  "[exit code: 1]",
  "[exit code: 256]",
  "[exit code: 01]",
  "[exit code: -1]",
  "[killed by signal: SIGKILL]",
  "[killed by signal: ]",
  "[timed out after 5 ms]",
  "[timed out after 05 ms]",
  "[interrupted by the user]",
  "[exit code: 1] ",
  "\r",
  "😀",
];

Deno.test("parseStatus() is the exact inverse of renderStatus() for every look-alike", () => {
  const pick = generator(20261130);
  for (let round = 0; round < 20_000; round++) {
    const pieces = Array.from({ length: pick(6) }, () => PIECES[pick(PIECES.length)]!);
    const body = pieces.join(pick(2) === 0 ? "\n" : "");
    const status = STATUSES[pick(STATUSES.length)]!;
    assertEquals(parseStatus(renderStatus(body, status)), { body, status }, JSON.stringify(body));
  }
});

Deno.test("renderStatus() gives different texts for different results", () => {
  const bodies = [...PIECES, ...PIECES.map((piece) => `a\n${piece}`)];
  const seen = new Map<string, string>();
  for (const body of bodies) {
    for (const status of STATUSES) {
      const text = renderStatus(body, status);
      const result = JSON.stringify([body, status]);
      assertEquals(seen.get(text) ?? result, result);
      seen.set(text, result);
    }
  }
});
