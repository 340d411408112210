import type { AgentRequestContext, AuthenticateRequest } from "@agentclientprotocol/sdk";
import type { Bridge } from "./bridge.ts";
import { authRequired, invalidParams } from "./errors.ts";

/** `authenticate`: keys come from the environment, so this only tells whether there is one. */
export async function authenticate(
  bridge: Bridge,
  { params }: AgentRequestContext<AuthenticateRequest>,
): Promise<void> {
  const known = bridge.options.authMethods.map((method) => method.id);
  if (!known.includes(params.methodId)) {
    throw invalidParams("methodId", `must be one of ${known.join(", ")}`, params.methodId);
  }
  const { modelProblem } = await bridge.services();
  const problem = await modelProblem();
  if (problem !== undefined) throw authRequired(problem);
}
