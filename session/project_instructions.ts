/** What a project tells agents: its AGENTS.md files (https://agents.md). */
import { dirname, join } from "node:path";
import { isInside, realPath } from "./_real_path.ts";

/** One file of instructions. */
export interface InstructionFile {
  /** Absolute. */
  readonly path: string;
  /** What it says, as far as it fits. */
  readonly text: string;
  /** The characters that did not fit. */
  readonly leftOut: number;
}

/** In each folder the first of these that is there: the second is the same for another agent. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];

/** What all files may have together, in UTF-16 code units: they are part of every request. */
const MAX_CHARS = 64_000;

/** More than this of one file is not even read. */
const MAX_BYTES = 1_000_000;

/**
 * Reads the instructions that hold in a folder: those of the repository it lies in, from its root
 * down, so that the nearest come last and have the last word. Without a repository, the folder's own.
 *
 * Never rejects: a file that cannot be read is passed over. A link is followed within the
 * repository only.
 *
 * @param cwd The working directory, absolute.
 */
export async function readProjectInstructions(cwd: string): Promise<InstructionFile[]> {
  const place = await realPath(cwd) ?? cwd;
  const root = await repositoryRoot(place) ?? place;
  const files: InstructionFile[] = [];
  let left = MAX_CHARS;
  // The nearest first: where there is too much, what is further away is cut.
  for (let folder = place;; folder = dirname(folder)) {
    const found = await instructionsIn(folder, root);
    if (found) {
      const text = found.text.slice(0, left).toWellFormed();
      left -= text.length;
      files.unshift({ path: found.path, text, leftOut: found.text.length - text.length });
    }
    if (folder === root) return files;
  }
}

async function instructionsIn(
  folder: string,
  root: string,
): Promise<{ path: string; text: string } | undefined> {
  for (const name of NAMES) {
    const path = join(folder, name);
    const real = await realPath(path);
    if (real === undefined || !isInside(real, root)) continue;
    try {
      const info = await Deno.stat(real);
      if (!info.isFile || info.size > MAX_BYTES) continue;
      const text = (await Deno.readTextFile(real)).trim();
      if (text !== "") return { path, text };
    } catch {
      // It may not be read, or has just gone: a project need not have one.
    }
  }
  return undefined;
}

/** The nearest folder upwards that holds a `.git`. */
async function repositoryRoot(from: string): Promise<string | undefined> {
  for (let folder = from;; folder = dirname(folder)) {
    if (await realPath(join(folder, ".git")) !== undefined) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}
