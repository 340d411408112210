import { assertEquals } from "@std/assert";
import { retryAfterMs } from "../../../session/model/_retry_after.ts";

Deno.test("retryAfterMs() counts a date from the given time when the response has none", () => {
  const now = () => Date.UTC(2026, 11, 1, 10, 0, 0);
  const headers = { "retry-after": "Tue, 01 Dec 2026 10:01:00 GMT" };
  assertEquals(retryAfterMs(headers, now), 60_000);
  assertEquals(retryAfterMs({ ...headers, date: "Tue, 01 Dec 2026 10:00:45 GMT" }, now), 15_000);
});
