/** What a session keeps on disk beside the store: long outputs and temporary files of commands. */
import { removePrefixed } from "../tools/remove_tree.ts";

/** How the names of a session's folders in the data folder begin. Short: sockets are made there. */
export function sessionFolderPrefix(sessionId: string): string {
  return `dsh-${sessionId.slice(0, 13)}-`;
}

/**
 * Removes what a session left there. A session that ended well left nothing; one whose process was
 * killed did.
 */
export async function removeSessionFiles(dataDirectory: string, sessionId: string): Promise<void> {
  await removePrefixed(dataDirectory, sessionFolderPrefix(sessionId));
}
