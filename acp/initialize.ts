import {
  type AgentRequestContext,
  type InitializeRequest,
  type InitializeResponse,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk";
import { offeredMethods } from "./authenticate.ts";
import type { Bridge } from "./bridge.ts";

/** `initialize`: negotiates the version and says what works here. */
export function initialize(
  bridge: Bridge,
  { params }: AgentRequestContext<InitializeRequest>,
): InitializeResponse {
  bridge.capabilities = params.clientCapabilities ?? {};
  return {
    // The only version spoken here: the client's own if it is that one, else the offer.
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: bridge.options.agentInfo,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: {
        image: bridge.options.images ?? false,
        audio: false,
        embeddedContext: true,
      },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        list: {},
        resume: {},
        close: {},
        delete: {},
        additionalDirectories: {},
      },
    },
    authMethods: offeredMethods(bridge),
  };
}
