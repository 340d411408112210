/** The log of a session as it is on disk, for tests; the program must not run meanwhile. */
import type { EventBody, SessionEvent } from "../../session/events.ts";
import type { SessionLog } from "../../session/log.ts";
import { openSessionStore } from "../../session/store.ts";

/** All events of a session. */
export function readLog(kv: string, sessionId: string): Promise<SessionEvent[]> {
  return withLog(kv, sessionId, (log) => Array.fromAsync(log.read()));
}

/** Adds a turn with these events, as another version or composition of the program could have. */
export function addTurn(kv: string, sessionId: string, ...bodies: EventBody[]): Promise<void> {
  return withLog(kv, sessionId, async (log) => {
    const events = await Array.fromAsync(log.read());
    const turn = 1 + events.filter(({ type }) => type === "turn/start").length;
    await log.append(
      { type: "turn/start", data: { turn, trigger: "prompt" } },
      ...bodies,
      { type: "turn/end", data: { turn, reason: { type: "completed" } } },
    );
  });
}

async function withLog<Result>(
  kv: string,
  sessionId: string,
  use: (log: SessionLog) => Promise<Result>,
): Promise<Result> {
  await using store = await openSessionStore({ path: kv, now: Date.now });
  const log = await store.open(sessionId);
  if (!log) throw new Error(`There is no session ${sessionId}`);
  return await use(log);
}
