import type {
  AgentRequestContext,
  NewSessionRequest,
  NewSessionResponse,
} from "@agentclientprotocol/sdk";
import { planSession, startSession } from "./_session_setup.ts";
import type { Bridge } from "./bridge.ts";
import { configOptions } from "./mapper/config_options.ts";

/** `session/new`: the header is durable before the response, and nothing of the session precedes it. */
export async function sessionNew(
  bridge: Bridge,
  { params, requestId }: AgentRequestContext<NewSessionRequest>,
): Promise<NewSessionResponse> {
  const { abilities, notices } = await planSession(bridge, params);
  const { agents } = await bridge.services();
  const handle = await agents.create({ cwd: params.cwd }, abilities);
  startSession(bridge, handle, notices, requestId);
  return { sessionId: handle.header.id, configOptions: configOptions(handle.options()) };
}
