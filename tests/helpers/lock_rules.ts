/**
 * Says what must not be in deno.lock: addresses of registries or files, which differ from machine
 * to machine, and hashes of the stand-ins for jsr.io, which are not what jsr.io serves.
 */
export async function lockProblems(text: string, root: URL): Promise<string[]> {
  const problems = [...text.matchAll(/"[^"]*(?:https?|file):\/\/[^"]*"/g)]
    .map(([address]) => `deno.lock names the address ${address}`);
  for (const hash of await standInHashes(new URL("tests/offline/jsr/", root))) {
    if (text.includes(hash)) problems.push(`deno.lock holds the hash of a stand-in: ${hash}`);
  }
  return problems;
}

/** The SHA-256 sums, in hex, of every file under a folder. */
export async function standInHashes(folder: URL): Promise<string[]> {
  const hashes: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) {
      hashes.push(...await standInHashes(new URL(`${name}/`, folder)));
      continue;
    }
    const sum = await crypto.subtle.digest("SHA-256", await Deno.readFile(new URL(name, folder)));
    hashes.push(new Uint8Array(sum).toHex());
  }
  return hashes;
}
