import type { PermissionOption } from "@agentclientprotocol/sdk";
import type { ApprovalAnswer, ApprovalAnswerer, ApprovalRequest } from "../session/approval.ts";
import type { Bridge } from "./bridge.ts";

/** Answers approval requests of this connection's sessions with `session/request_permission`. */
export function permissionAnswerer(bridge: Bridge): ApprovalAnswerer {
  return async (request: ApprovalRequest): Promise<ApprovalAnswer> => {
    const session = bridge.sessions.get(request.sessionId);
    // Without a card there is nothing the client could show the question on.
    if (!session || request.callId === undefined) return "delegate";
    // The card must be there, as pending, before the question.
    await session.flush();
    const { outcome } = await bridge.client.request("session/request_permission", {
      sessionId: request.sessionId,
      toolCall: { toolCallId: request.callId, status: "pending" },
      options: permissionOptions(request),
    }, { cancellationSignal: request.signal, stopWaitingOnCancel: true });
    if (outcome.outcome !== "selected") return "cancelled";
    switch (outcome.optionId) {
      case "allow-once":
        return "allowed_once";
      case "allow-always":
        return request.scope ? "allowed_always" : "rejected";
      default:
        return "rejected";
    }
  };
}

function permissionOptions({ scope }: ApprovalRequest): PermissionOption[] {
  return [
    { optionId: "allow-once", name: "Allow once", kind: "allow_once" },
    ...scope
      ? [{
        optionId: "allow-always",
        name: `Always allow ${scope.label}`,
        kind: "allow_always" as const,
      }]
      : [],
    { optionId: "reject-once", name: "Reject", kind: "reject_once" },
  ];
}
