import type { CancelNotification } from "@agentclientprotocol/sdk";
import type { Bridge } from "./bridge.ts";

/** `session/cancel`: cancels that session's turns. Unknown or idle: no effect. */
export function sessionCancel(bridge: Bridge, { sessionId }: CancelNotification): void {
  bridge.sessions.get(sessionId)?.handle.cancel();
}
