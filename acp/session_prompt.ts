import type { AgentRequestContext, PromptRequest, PromptResponse } from "@agentclientprotocol/sdk";
import { liveSession } from "./_open_session.ts";
import type { Bridge } from "./bridge.ts";
import { authRequired, internalError, invalidParams } from "./errors.ts";
import { readPrompt } from "./mapper/prompt_content.ts";
import { promptOutcome } from "./mapper/stop_reason.ts";

/** `session/prompt`: one turn. Answers when it has ended and every update of it is on the wire. */
export async function sessionPrompt(
  bridge: Bridge,
  { params, signal, requestId }: AgentRequestContext<PromptRequest>,
): Promise<PromptResponse> {
  const session = liveSession(bridge, params.sessionId);
  if (session.busy) {
    throw invalidParams("sessionId", "must have no prompt in flight", params.sessionId);
  }
  const prompt = readPrompt(params.prompt, { images: session.handle.takesImages?.() ?? false });
  if (!prompt.ok) throw invalidParams(prompt.field, prompt.rule, prompt.value);
  const stop = AbortSignal.any([signal, bridge.ledger.cancelSignal(requestId)]);
  const outcome = promptOutcome(await session.prompt(prompt.content, stop));
  switch (outcome.type) {
    case "stop":
      return { stopReason: outcome.stopReason };
    case "error":
      throw outcome.kind === "auth"
        ? authRequired(outcome.message)
        : internalError(outcome.message);
  }
}
