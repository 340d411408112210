import type {
  AgentRequestContext,
  LoadSessionRequest,
  LoadSessionResponse,
} from "@agentclientprotocol/sdk";
import { wakeSession } from "./_wake_session.ts";
import type { Bridge } from "./bridge.ts";

/** `session/load`: the session's log is replayed before the response. */
export async function sessionLoad(
  bridge: Bridge,
  { params, requestId }: AgentRequestContext<LoadSessionRequest>,
): Promise<LoadSessionResponse> {
  return await wakeSession(bridge, { ...params, requestId }, (session) => session.replay());
}
