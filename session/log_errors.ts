/** How reading and writing a session's log can fail, and what each failure says to a person. */
import type { LeaseHolder } from "./lease_holder.ts";

/** Another process wrote to the session since this one read it. Nothing was written. */
export class LogConflictError extends Error {
  /** For `switch` and for messages. */
  override readonly name = "LogConflictError";
}

/** Something stored of a session cannot be read. `key` says what. */
export class DamagedEventError extends Error {
  /** For `switch` and for messages. */
  override readonly name: string = "DamagedEventError";
  /** The KV key, as JSON. */
  readonly key: string;
  /** The session the key belongs to. */
  readonly sessionId: string;
  /** What is wrong with it. */
  readonly problem: string;

  /** `problem` completes the sentence "Cannot read the event at …". */
  constructor(key: readonly unknown[], problem: string) {
    super(`Cannot read the ${nameOf(key)} at ${JSON.stringify(key)}: ${problem}`);
    this.key = JSON.stringify(key);
    this.sessionId = String(key[1]);
    this.problem = problem;
  }
}

/** A newer program wrote it. It is not damaged, and nothing but an update helps. */
export class NewerSchemaError extends DamagedEventError {
  /** For `switch` and for messages. */
  override readonly name = "NewerSchemaError";
}

/** Another process, or another part of this one, has the session open. Nothing was written. */
export class SessionInUseError extends Error {
  /** For `switch` and for messages. */
  override readonly name = "SessionInUseError";
  /** The session. */
  readonly sessionId: string;
  /** Who has it. */
  readonly holder: LeaseHolder;

  /** `description` is the holder in words. */
  constructor(sessionId: string, holder: LeaseHolder, description: string) {
    super(`Cannot open the session ${sessionId} as ${description}`);
    this.sessionId = sessionId;
    this.holder = holder;
  }
}

function nameOf(key: readonly unknown[]): string {
  const kind = key[2];
  return kind === "header" || kind === "tail" || kind === "part" ? kind : "event";
}
