/** Why a store cannot be opened or reached. Their messages are for a person, and free of secrets. */

/** Why a store could not be opened. */
export class StoreOpenError extends Error {
  /** For `switch` and for messages. */
  override readonly name = "StoreOpenError";
}

/**
 * A file could not be read or written: the disk is full, it is read-only, it is damaged. Or the
 * server of a remote store did not answer in time, or refused. A write that failed so may
 * have been kept all the same; see {@linkcode SessionLog.settle}.
 */
export class StoreUnavailableError extends Error {
  /** For `switch` and for messages. */
  override readonly name = "StoreUnavailableError";
}
