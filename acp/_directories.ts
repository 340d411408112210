import type { DirectoryLookup } from "./bridge.ts";

/** Looks at the directories of this machine. */
export const directories: DirectoryLookup = {
  async kind(path) {
    try {
      return (await Deno.stat(path)).isDirectory ? "directory" : "other";
    } catch {
      // Missing, or closed to this program: either way no place to work in.
      return "missing";
    }
  },
  async realPath(path) {
    try {
      return await Deno.realPath(path);
    } catch {
      // Its stored form is all there is to compare.
      return path;
    }
  },
};
