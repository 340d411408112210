import type { LiveSession } from "./_live_session.ts";
import type { Bridge } from "./bridge.ts";
import { invalidParams } from "./errors.ts";

/** The live session a request names. */
export function liveSession(bridge: Bridge, sessionId: string): LiveSession {
  const session = bridge.sessions.get(sessionId);
  if (!session) throw invalidParams("sessionId", "must name an open session", sessionId);
  return session;
}
