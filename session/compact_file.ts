/** Giving space back: the file of a store does not shrink when something is deleted from it. */

/** What became of it. */
export type CompactResult =
  | { readonly type: "compacted" }
  /** Another process has the store open. Nothing was changed. */
  | { readonly type: "in_use" }
  /** `message` is the reason, for example a full disk. Nothing was changed. */
  | { readonly type: "failed"; readonly message: string };

/** How long a store that was just closed may take to let go of its file, in milliseconds. */
const RELEASE_MS = 1_000;

/**
 * Rewrites the file of a closed store without its gaps. It is one SQLite transaction: a crash
 * leaves the file as it was. Needs about as much free space as the file will have.
 *
 * @param path The file of a store that this process has closed.
 */
export async function compactFile(path: string): Promise<CompactResult> {
  const { DatabaseSync } = await import("node:sqlite");
  try {
    const database = new DatabaseSync(path, { timeout: RELEASE_MS });
    try {
      // Fails where anybody else has the file open, idle or not, and keeps others out until the end.
      database.exec("PRAGMA locking_mode = EXCLUSIVE");
      database.exec("VACUUM");
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      database.close();
    }
    return { type: "compacted" };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return /database is (locked|busy)/i.test(message)
      ? { type: "in_use" }
      : { type: "failed", message };
  }
}
