import { RequestError } from "@agentclientprotocol/sdk";
import type {
  AgentRequestContext,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
} from "@agentclientprotocol/sdk";
import { liveSession } from "./_open_session.ts";
import type { Bridge } from "./bridge.ts";
import { invalidParams } from "./errors.ts";
import { configOptions } from "./mapper/config_options.ts";

/** `session/set_config_option`: validates, and answers the complete list. */
export async function sessionSetConfigOption(
  bridge: Bridge,
  { params }: AgentRequestContext<SetSessionConfigOptionRequest>,
): Promise<SetSessionConfigOptionResponse> {
  const { handle } = liveSession(bridge, params.sessionId);
  if (typeof params.value !== "string") {
    throw invalidParams("value", "must be a string: every option is a select", params.value);
  }
  const result = await handle.setOption(params.configId, params.value);
  if (!result.ok) throw new RequestError(-32602, `Invalid params: ${result.problem}`);
  return { configOptions: configOptions(handle.options()) };
}
