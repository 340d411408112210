/** What `session/load` and `session/resume` have in common. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import type { LiveSession } from "./_live_session.ts";
import { planSession, type SessionExtras, startSession } from "./_session_setup.ts";
import type { Bridge } from "./bridge.ts";
import { invalidParams } from "./errors.ts";
import { configOptions } from "./mapper/config_options.ts";

/**
 * Makes a stored session live. All that can be wrong with the request is found before an agent
 * exists.
 *
 * @param begin What comes before the response. When it fails, the session is closed again.
 */
export async function wakeSession(
  bridge: Bridge,
  params: SessionExtras & {
    readonly sessionId: string;
    readonly cwd: string;
    readonly requestId: unknown;
  },
  begin: (session: LiveSession) => Promise<void>,
): Promise<{ configOptions: SessionConfigOption[] }> {
  const { sessionId, cwd } = params;
  const conflict = bridge.sessions.conflict(sessionId);
  if (conflict) throw invalidParams("sessionId", conflict, sessionId);
  using _reservation = bridge.sessions.reserve(sessionId);
  await bridge.sessions.closed(sessionId);
  const { abilities, notices } = await planSession(bridge, params);
  const { agents, store } = await bridge.services();
  const header = await store.header(sessionId);
  if (!header) throw unknownSession(sessionId);
  const { realPath } = bridge.options.directories;
  if (await realPath(header.cwd) !== await realPath(cwd)) {
    throw invalidParams("cwd", `must be the session's own, ${JSON.stringify(header.cwd)}`, cwd);
  }
  const handle = await agents.resume(sessionId, abilities);
  if (!handle) throw unknownSession(sessionId);
  const session = startSession(bridge, handle, notices, params.requestId);
  try {
    await begin(session);
  } catch (error) {
    await bridge.sessions.close(sessionId);
    throw error;
  }
  return { configOptions: configOptions(handle.options()) };
}

function unknownSession(sessionId: string) {
  return invalidParams("sessionId", "must name a stored session", sessionId);
}
