import type { LiveSession } from "./_live_session.ts";

/** The sessions of one connection. An id is reserved before the first await of its loading. */
export class SessionTable implements AsyncDisposable {
  #live = new Map<string, LiveSession>();
  #reserved = new Set<string>();
  #closing = new Map<string, Promise<void>>();

  /** A live session. */
  get(id: string): LiveSession | undefined {
    return this.#live.get(id);
  }

  /** Why an id cannot be loaded now, if it cannot. */
  conflict(id: string): string | undefined {
    if (this.#live.has(id)) return "must not be open on this connection already";
    if (this.#reserved.has(id)) return "must not be loading or being deleted already";
    return undefined;
  }

  /** Whether an id is being loaded or deleted. */
  isReserved(id: string): boolean {
    return this.#reserved.has(id);
  }

  /** Holds an id while it loads or is deleted. Disposing the reservation frees it. */
  reserve(id: string): Disposable {
    this.#reserved.add(id);
    return { [Symbol.dispose]: () => void this.#reserved.delete(id) };
  }

  /** Resolves when an earlier session of this id is closed entirely. */
  async closed(id: string): Promise<void> {
    await this.#closing.get(id);
  }

  /** Puts a session in. */
  add(session: LiveSession): void {
    this.#live.set(session.handle.header.id, session);
  }

  /** Takes a session out and ends it. */
  async close(id: string): Promise<void> {
    const session = this.#live.get(id);
    if (!session) return await this.closed(id);
    this.#live.delete(id);
    const closing = session[Symbol.asyncDispose]();
    this.#closing.set(id, closing);
    try {
      await closing;
    } finally {
      this.#closing.delete(id);
    }
  }

  /** Ends all sessions, in parallel. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([
      ...[...this.#live.keys()].map((id) => this.close(id)),
      ...this.#closing.values(),
    ]);
  }
}
