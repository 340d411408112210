import type {
  AgentRequestContext,
  LoadSessionRequest,
  LoadSessionResponse,
} from "@agentclientprotocol/sdk";
import { checkDirectory, startSession } from "./_session_setup.ts";
import type { Bridge } from "./bridge.ts";
import { clientAbilities } from "./elicitation.ts";
import { invalidParams } from "./errors.ts";
import { configOptions } from "./mapper/config_options.ts";

/** `session/load`: all that can be wrong is found before an agent exists; then the log is replayed. */
export async function sessionLoad(
  bridge: Bridge,
  { params }: AgentRequestContext<LoadSessionRequest>,
): Promise<LoadSessionResponse> {
  const { sessionId, cwd } = params;
  const conflict = bridge.sessions.conflict(sessionId);
  if (conflict) throw invalidParams("sessionId", conflict, sessionId);
  using _reservation = bridge.sessions.reserve(sessionId);
  await bridge.sessions.closed(sessionId);
  await checkDirectory(bridge, cwd);
  const { agents, store } = await bridge.services();
  const header = await store.header(sessionId);
  if (!header) throw unknownSession(sessionId);
  const { realPath } = bridge.options.directories;
  if (await realPath(header.cwd) !== await realPath(cwd)) {
    throw invalidParams("cwd", `must be the session's own, ${JSON.stringify(header.cwd)}`, cwd);
  }
  const handle = await agents.resume(sessionId, clientAbilities(bridge));
  if (!handle) throw unknownSession(sessionId);
  const session = startSession(bridge, handle, params);
  try {
    await session.replay();
  } catch (error) {
    await bridge.sessions.close(sessionId);
    throw error;
  }
  return { configOptions: configOptions(handle.options()) };
}

function unknownSession(sessionId: string) {
  return invalidParams("sessionId", "must name a stored session", sessionId);
}
