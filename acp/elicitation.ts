import type { ClientAbilities } from "../session/agent_types.ts";
import type {
  QuestionAnswer,
  QuestionRequest,
  UserInteraction,
} from "../tools/user_interaction.ts";
import type { Bridge } from "./bridge.ts";
import { elicitationForm, questionAnswer, supportsForms } from "./mapper/elicitation.ts";

/** What the client can do for a session that opens now; a later `initialize` does not change it. */
export function clientAbilities(bridge: Bridge): ClientAbilities {
  return supportsForms(bridge.capabilities) ? { interaction: formInteraction(bridge) } : {};
}

/**
 * Asks with `elicitation/create` in form mode, on the session and the call that asks. A request
 * that is withdrawn reaches the client as `$/cancel_request`.
 */
export function formInteraction(bridge: Bridge): UserInteraction {
  return {
    async ask(request: QuestionRequest): Promise<QuestionAnswer> {
      try {
        return await askOnForm(bridge, request);
      } catch (error) {
        if (request.signal.aborted) return { type: "cancelled" };
        const reason = error instanceof Error ? error.message : String(error);
        return { type: "failed", message: `the client did not show it (${reason.slice(0, 200)})` };
      }
    },
  };
}

async function askOnForm(
  bridge: Bridge,
  { sessionId, callId, question, signal }: QuestionRequest,
): Promise<QuestionAnswer> {
  const session = bridge.sessions.get(sessionId);
  if (!session) return { type: "failed", message: "its session is not open on this connection" };
  // The card the question belongs to must be there before it.
  await session.flush();
  if (signal.aborted) return { type: "cancelled" };
  const response: unknown = await bridge.client.request("elicitation/create", {
    mode: "form",
    sessionId,
    toolCallId: callId,
    ...elicitationForm(question),
  }, { cancellationSignal: signal, stopWaitingOnCancel: true });
  return questionAnswer(question, response);
}
