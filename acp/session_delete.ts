import type { AgentRequestContext, DeleteSessionRequest } from "@agentclientprotocol/sdk";
import type { Bridge } from "./bridge.ts";
import { internalError, invalidParams } from "./errors.ts";

/**
 * `session/delete`: everything of the session, at once for whoever looks. One that is open here is
 * closed first, one that another process has open is refused, and one that does not exist is fine.
 */
export async function sessionDelete(
  bridge: Bridge,
  { params: { sessionId } }: AgentRequestContext<DeleteSessionRequest>,
): Promise<void> {
  if (bridge.sessions.isReserved(sessionId)) {
    throw invalidParams("sessionId", "must not be loading or being deleted already", sessionId);
  }
  using _reservation = bridge.sessions.reserve(sessionId);
  await bridge.sessions.close(sessionId);
  const { store, removeFiles } = await bridge.services();
  const result = await store.delete(sessionId);
  switch (result.type) {
    case "deleted":
    case "absent":
      await removeFiles?.(sessionId);
      return;
    case "live":
      throw invalidParams("sessionId", `must not be open elsewhere: ${result.message}`, sessionId);
    case "recent":
      throw internalError(`the session ${sessionId} is in use`);
    default: {
      const never: never = result;
      throw new TypeError(`Cannot answer an unknown deletion: ${JSON.stringify(never)}`);
    }
  }
}
