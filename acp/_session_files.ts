/** What a session keeps on disk beside the store: long outputs and temporary files of commands. */

/** How the names of a session's folders in the data folder begin. Short: sockets are made there. */
export function sessionFolderPrefix(sessionId: string): string {
  return `dsh-${sessionId.slice(0, 13)}-`;
}

/**
 * Removes what a session left there. A session that ended well left nothing; one whose process was
 * killed did.
 */
export async function removeSessionFiles(dataDirectory: string, sessionId: string): Promise<void> {
  const prefix = sessionFolderPrefix(sessionId);
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(dataDirectory)) {
      if (name.startsWith(prefix)) names.push(name);
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  for (const name of names) await Deno.remove(`${dataDirectory}/${name}`, { recursive: true });
}
