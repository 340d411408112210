import type {
  AgentRequestContext,
  NewSessionRequest,
  NewSessionResponse,
} from "@agentclientprotocol/sdk";
import { checkDirectory, startSession } from "./_session_setup.ts";
import type { Bridge } from "./bridge.ts";
import { mcpServers } from "./_mcp_servers.ts";
import { clientAbilities } from "./elicitation.ts";
import { configOptions } from "./mapper/config_options.ts";

/** `session/new`: the header is durable before the response, and nothing of the session precedes it. */
export async function sessionNew(
  bridge: Bridge,
  { params }: AgentRequestContext<NewSessionRequest>,
): Promise<NewSessionResponse> {
  await checkDirectory(bridge, params.cwd);
  const { agents } = await bridge.services();
  const handle = await agents.create({ cwd: params.cwd }, {
    ...clientAbilities(bridge),
    mcpServers: mcpServers(params.mcpServers),
  });
  startSession(bridge, handle, params);
  return { sessionId: handle.header.id, configOptions: configOptions(handle.options()) };
}
