import { join } from "node:path";
import { removePrefixed, removeTree } from "../tools/remove_tree.ts";

/** The session's own folders on disk. */
export interface SessionFolders {
  /** Temporary files of commands. */
  readonly tmp: string;
  /** Full outputs that were too long to keep. */
  readonly output: string;
}

/** A private folder that is made when first needed and goes with its session. */
export class SessionFolder implements AsyncDisposable {
  readonly #root: string;
  readonly #prefix: string | undefined;
  #made: Promise<SessionFolders | undefined> | undefined;
  #base: string | undefined;

  /**
   * @param root An existing folder to make it in.
   * @param prefix How its name begins, and no other session's. Other folders with such a name are
   *   left of a process that was killed: they are removed first. Absent: a name like any other.
   */
  constructor(root: string, prefix?: string) {
    this.#root = root;
    this.#prefix = prefix;
  }

  /** The folders, mode 0700; undefined where they cannot be made, and then commands do without. */
  folders(): Promise<SessionFolders | undefined> {
    return this.#made ??= this.#make();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#made;
    if (this.#base === undefined) return;
    try {
      await removeTree(this.#base);
    } catch {
      // It has become another user's: the system's own cleaning has to do.
    }
  }

  async #make(): Promise<SessionFolders | undefined> {
    try {
      if (this.#prefix) await removePrefixed(this.#root, this.#prefix);
      this.#base = await Deno.makeTempDir({ dir: this.#root, prefix: this.#prefix ?? "dsh-" });
      const folders = { tmp: join(this.#base, "tmp"), output: join(this.#base, "output") };
      for (const path of [folders.tmp, folders.output]) await Deno.mkdir(path, { mode: 0o700 });
      return folders;
    } catch {
      // Nothing may be written there: no private folder, no full output, the command still runs.
      return undefined;
    }
  }
}
