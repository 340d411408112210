import type {
  AgentRequestContext,
  AuthenticateRequest,
  AuthMethod,
} from "@agentclientprotocol/sdk";
import type { Bridge } from "./bridge.ts";
import { authRequired, invalidParams } from "./errors.ts";

/** What this client can use: a terminal method only where it runs the program in a terminal. */
export function offeredMethods({ options, capabilities }: Bridge): AuthMethod[] {
  const isOffered = (method: AuthMethod) =>
    !("type" in method) || method.type !== "terminal" || capabilities.auth?.terminal === true;
  return options.authMethods.filter(isOffered);
}

/** `authenticate`: keys come from elsewhere, so this only tells whether there is one. */
export async function authenticate(
  bridge: Bridge,
  { params }: AgentRequestContext<AuthenticateRequest>,
): Promise<void> {
  const known = offeredMethods(bridge).map((method) => method.id);
  if (!known.includes(params.methodId)) {
    throw invalidParams("methodId", `must be one of ${known.join(", ")}`, params.methodId);
  }
  const { modelProblem } = await bridge.services();
  const problem = await modelProblem();
  if (problem !== undefined) throw authRequired(problem);
}
