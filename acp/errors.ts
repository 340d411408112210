/** The errors a peer gets: documented codes, and nothing that leaks. */
import { RequestError } from "@agentclientprotocol/sdk";
import { DamagedEventError, SessionInUseError } from "../session/log_errors.ts";

/**
 * Bad input (-32602). The message names the field, the rule and the value, shortened to
 * 200 characters.
 */
export function invalidParams(field: string, rule: string, value: unknown): RequestError {
  const text = JSON.stringify(value) ?? "nothing";
  const shown = text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text;
  return new RequestError(-32602, `Invalid params: ${field} ${rule}; got ${shown}`);
}

/** A failure of the agent (-32603) that `message` explains to a person. */
export function internalError(message: string): RequestError {
  // Editors show `details` where it is alone.
  return new RequestError(-32603, `Internal error: ${message}`, { details: message });
}

/** No key, or one the provider refused (-32000). The client may offer the `authMethods`. */
export function authRequired(message: string): RequestError {
  return new RequestError(-32000, `Authentication required: ${message}`);
}

/** Errors whose message is written for a person and free of secrets. */
const EXPLAINED = new Set([
  "StoreOpenError",
  "StoreUnavailableError",
  "LogConflictError",
  "DamagedEventError",
  "NewerSchemaError",
]);

/** What a peer may be told of an exception; `report` gets the whole of it. */
export function peerError(error: unknown, report: (error: unknown) => void): RequestError {
  if (error instanceof RequestError) return error;
  report(error);
  if (error instanceof SessionInUseError) {
    // As for a session that is open on this connection: the id cannot be loaded now.
    const { message } = invalidParams("sessionId", "must not be in use", error.sessionId);
    return new RequestError(-32602, `${message}. ${error.message}`);
  }
  if (error instanceof DamagedEventError && error.name === "DamagedEventError") {
    return internalError(
      `${error.message}. "dsh-acp repair ${error.sessionId}" says what can be mended`,
    );
  }
  if (error instanceof Error && EXPLAINED.has(error.name)) return internalError(error.message);
  return internalError("the agent failed; its log (DSH_LOG=debug) says why");
}
