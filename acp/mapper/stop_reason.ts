/** How a turn's end answers `session/prompt`: a total codec, held by the compiler. */
import type { StopReason } from "@agentclientprotocol/sdk";
import type { TurnEnd } from "../../session/events.ts";

/** A stop reason, or the error that rejects the prompt. */
export type PromptOutcome =
  | { readonly type: "stop"; readonly stopReason: StopReason }
  /** `auth`: no key, or a refused one. */
  | { readonly type: "error"; readonly kind: "auth" | "internal"; readonly message: string };

/** Maps a turn's end. */
export function promptOutcome(end: TurnEnd): PromptOutcome {
  switch (end.type) {
    case "completed":
      return { type: "stop", stopReason: "end_turn" };
    case "max_tokens":
      return { type: "stop", stopReason: "max_tokens" };
    case "max_steps":
      return { type: "stop", stopReason: "max_turn_requests" };
    case "content_filter":
      return { type: "stop", stopReason: "refusal" };
    case "aborted":
    case "disposed":
    case "rejected":
    case "interrupted":
      return { type: "stop", stopReason: "cancelled" };
    case "error": {
      const auth = end.code === "auth" || end.code === "no_model";
      return { type: "error", kind: auth ? "auth" : "internal", message: end.message };
    }
    default: {
      const never: never = end;
      throw new TypeError(`Cannot map an unknown turn end: ${JSON.stringify(never)}`);
    }
  }
}
