/**
 * Removes a folder with all that is in it, also what a command has made unwritable for its owner.
 * Nothing there is fine. Links are removed, never followed.
 *
 * @param path Absolute.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    await openFolders(path);
    await Deno.remove(path, { recursive: true });
  }
}

async function openFolders(path: string): Promise<void> {
  if (!(await Deno.lstat(path)).isDirectory) return;
  await Deno.chmod(path, 0o700);
  for await (const { name } of Deno.readDir(path)) await openFolders(`${path}/${name}`);
}

/**
 * Removes from a folder what has a name that begins so.
 *
 * @param folder Absolute; one that does not exist is fine.
 * @param prefix How the names begin.
 */
export async function removePrefixed(folder: string, prefix: string): Promise<void> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (name.startsWith(prefix)) names.push(name);
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  for (const name of names) await removeTree(`${folder}/${name}`);
}
