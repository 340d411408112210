/** How many folders deep a tree may be to be removed at once. */
const MAX_DEPTH = 200;

/** How long the names down to a folder may be together: a path has an end, at 4,096 bytes. */
const MAX_LENGTH = 1_000;

/**
 * Removes a folder with all that is in it, also what a command has made unwritable for its owner.
 * Nothing there is fine. Links are removed, never followed.
 *
 * @param path Absolute.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    if ((await Deno.lstat(path)).isDirectory) await flatten(path);
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Opens all folders of a tree, and moves up those that lie deep: Deno removes a tree by recursion,
 * and one of some thousand levels overflows its stack, which ends the process.
 */
async function flatten(root: string): Promise<void> {
  const folders = [{ path: root, depth: 0 }];
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    await Deno.chmod(folder.path, 0o700).catch(() => {
      // Not ours: the removal says so.
    });
    // The names first: what is moved up must not be met again.
    const entries = await Array.fromAsync(Deno.readDir(folder.path));
    for (const entry of entries.filter(({ isDirectory }) => isDirectory)) {
      let path = `${folder.path}/${entry.name}`;
      let depth = folder.depth + 1;
      if (depth > MAX_DEPTH || path.length > root.length + MAX_LENGTH) {
        await Deno.chmod(path, 0o700);
        const up = `${root}/${crypto.randomUUID()}`;
        await Deno.rename(path, up);
        [path, depth] = [up, 1];
      }
      folders.push({ path, depth });
    }
  }
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
