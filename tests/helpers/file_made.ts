/** Resolves when the file, which is not there yet, is made in its existing folder. */
export async function fileMade(path: string): Promise<void> {
  using watcher = Deno.watchFs(path.slice(0, path.lastIndexOf("/")));
  for await (const { paths } of watcher) if (paths.includes(path)) return;
}
