/** What a session has seen of files, so that it never changes one it does not know. */

/**
 * The version of a file: it changes whenever the content does, as far as the system tells. Deno
 * gives modification times in milliseconds and change times in seconds.
 */
export function fileVersion(info: Deno.FileInfo): string {
  const { dev, ino, size, mtime, ctime } = info;
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(":");
}

/** How a file compares with what the session saw of it. */
export type Freshness = "unseen" | "stale" | "fresh";

/**
 * Remembers the version of each file a session read or wrote. Kept in memory only: after a resume
 * every file counts as unseen.
 */
export class FileObservations {
  #versions = new Map<string, string>();

  /** Notes that the session knows the content of `version`. `path` is the real path. */
  record(path: string, version: string): void {
    this.#versions.set(path, version);
  }

  /** Compares the file with what was seen. `path` is the real path. */
  compare(path: string, version: string): Freshness {
    const seen = this.#versions.get(path);
    if (seen === undefined) return "unseen";
    return seen === version ? "fresh" : "stale";
  }
}
