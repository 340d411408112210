import type {
  AgentRequestContext,
  ResumeSessionRequest,
  ResumeSessionResponse,
} from "@agentclientprotocol/sdk";
import { wakeSession } from "./_wake_session.ts";
import type { Bridge } from "./bridge.ts";

/** `session/resume`: `session/load` for a client that kept the conversation; nothing is replayed. */
export async function sessionResume(
  bridge: Bridge,
  { params, requestId }: AgentRequestContext<ResumeSessionRequest>,
): Promise<ResumeSessionResponse> {
  return await wakeSession(bridge, { ...params, requestId }, () => Promise.resolve());
}
