import type { AgentRequestContext, CloseSessionRequest } from "@agentclientprotocol/sdk";
import { liveSession } from "./_open_session.ts";
import type { Bridge } from "./bridge.ts";

/** `session/close`: cancels what runs, flushes the log, frees the session. It can be loaded again. */
export async function sessionClose(
  bridge: Bridge,
  { params }: AgentRequestContext<CloseSessionRequest>,
): Promise<void> {
  liveSession(bridge, params.sessionId);
  await bridge.sessions.close(params.sessionId);
}
