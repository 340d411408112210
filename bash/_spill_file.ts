import { join } from "node:path";

/** Where the full output of a command goes once it is too long to keep. */
export interface SpillOptions {
  /** A folder of the session's own. Made with mode 0700 when first needed. */
  readonly dir: string;
}

/** What became of the full output. */
export type SpillOutcome =
  | { readonly type: "none" }
  /** `bytes` of the output are in the file at `path`; `complete` unless the cap was reached. */
  | {
    readonly type: "file";
    readonly path: string;
    readonly bytes: number;
    readonly complete: boolean;
  }
  | { readonly type: "failed"; readonly message: string };

/** How much is written at a time: each write costs a trip to another thread. */
const BUFFER = 256 * 1024;
/** Chunks below this are copied, since they may be views of a larger buffer. */
const SMALL = 65_536;

/**
 * Writes raw output to a private file. Nothing is on disk until {@linkcode SpillFile.open}; until
 * then the bytes wait in memory, so the owner opens it before they grow.
 */
export class SpillFile {
  readonly #dir: string;
  readonly #cap: number;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #taken = 0;
  #complete = true;
  #file: Deno.FsFile | undefined;
  #path = "";
  #failure: string | undefined;

  constructor(options: SpillOptions, cap: number) {
    this.#dir = options.dir;
    this.#cap = cap;
  }

  /** Tells whether the file exists. */
  get opened(): boolean {
    return this.#file !== undefined;
  }

  /** Where the file is, once it exists. */
  get path(): string | undefined {
    return this.#file && this.#path;
  }

  /** Takes bytes up to the cap. A promise means that the file has to catch up. */
  push(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#failure !== undefined || bytes.length === 0) return undefined;
    const room = this.#cap - this.#taken;
    if (bytes.length > room) this.#complete = false;
    if (room <= 0) return undefined;
    const part = bytes.subarray(0, room);
    this.#waiting.push(part.length < SMALL ? part.slice() : part);
    this.#waitingBytes += part.length;
    this.#taken += part.length;
    if (this.#file && this.#waitingBytes >= BUFFER) return this.#flush();
    return undefined;
  }

  /** Makes the file and writes what waits. Never rejects: a failure is part of the outcome. */
  async open(): Promise<void> {
    if (this.#file || this.#failure !== undefined) return;
    try {
      await Deno.mkdir(this.#dir, { recursive: true, mode: 0o700 });
      this.#path = join(this.#dir, `output-${crypto.randomUUID()}.log`);
      this.#file = await Deno.open(this.#path, { write: true, createNew: true, mode: 0o600 });
    } catch (error) {
      await this.#fail(error);
    }
    await this.#flush();
  }

  /** Closes the file and says what became of it; without `keep` it is removed. */
  async finish(keep: boolean): Promise<SpillOutcome> {
    if (this.#file && keep) await this.#flush();
    if (this.#failure !== undefined) return { type: "failed", message: this.#failure };
    if (!this.#file) return { type: "none" };
    this.#file.close();
    this.#file = undefined;
    if (!keep) {
      await removeQuietly(this.#path);
      return { type: "none" };
    }
    return { type: "file", path: this.#path, bytes: this.#taken, complete: this.#complete };
  }

  async #flush(): Promise<void> {
    const file = this.#file;
    if (!file) return;
    const waiting = this.#waiting;
    const bytes = waiting.length === 1 ? waiting[0]! : concat(waiting, this.#waitingBytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
    } catch (error) {
      await this.#fail(error);
    }
  }

  async #fail(error: unknown): Promise<void> {
    this.#failure = error instanceof Error ? error.message : String(error);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (!this.#file) return;
    this.#file.close();
    this.#file = undefined;
    await removeQuietly(this.#path);
  }
}

async function removeQuietly(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch {
    // It is gone, or goes with the session's folder.
  }
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
