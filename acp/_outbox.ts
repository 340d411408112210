import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { mergeUpdates, streamedLength } from "./mapper/merge_updates.ts";

/** At most one frame of a stream in this time, in milliseconds. */
const INTERVAL_MS = 50;
/** A frame this long, in characters, does not wait for more. */
const FRAME_LENGTH = 16 * 1024;
/** From this many waiting characters on, whoever produces them is held back. */
const BACKLOG_LENGTH = 256 * 1024;

/**
 * The updates of one session on their way to the client: in order, streams coalesced. What does
 * not stream goes out at once, after all that came before it.
 */
export class Outbox {
  #send: (update: SessionUpdate) => Promise<void>;
  #queue: SessionUpdate[] = [];
  #backlog = 0;
  #sending: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastSent = -Infinity;
  #urgent = false;
  #drained = Promise.withResolvers<void>();

  /** `send` resolves when the client's pipe took the frame; it rejects when there is no client. */
  constructor(send: (update: SessionUpdate) => Promise<void>) {
    this.#send = send;
  }

  /** Queues an update. The promise, if any, resolves when the backlog is small again. */
  push(update: SessionUpdate): Promise<void> | undefined {
    const length = streamedLength(update);
    const last = this.#queue.at(-1);
    const merged = last && (streamedLength(last) ?? FRAME_LENGTH) < FRAME_LENGTH
      ? mergeUpdates(last, update)
      : undefined;
    if (merged) this.#queue[this.#queue.length - 1] = merged;
    else this.#queue.push(update);
    this.#backlog += length ?? 0;
    this.#schedule();
    return this.#backlog > BACKLOG_LENGTH ? this.#drained.promise : undefined;
  }

  /** Resolves when everything queued so far is on the wire, or the client is gone. */
  async flush(): Promise<void> {
    this.#urgent = true;
    this.#schedule();
    while (this.#sending) await this.#sending;
    this.#urgent = false;
  }

  #schedule(): void {
    if (this.#sending || this.#queue.length === 0) return;
    clearTimeout(this.#timer);
    const wait = this.#waitFor(this.#queue[0]!);
    if (wait > 0) this.#timer = setTimeout(() => this.#start(), wait);
    else this.#start();
  }

  /** How long the first update waits for more of its stream, in milliseconds. */
  #waitFor(update: SessionUpdate): number {
    const length = streamedLength(update);
    const full = length === undefined || length >= FRAME_LENGTH || this.#queue.length > 1;
    if (full || this.#urgent) return 0;
    return this.#lastSent + INTERVAL_MS - performance.now();
  }

  #start(): void {
    this.#sending ??= this.#pump().finally(() => {
      this.#sending = undefined;
      this.#schedule();
    });
  }

  async #pump(): Promise<void> {
    do {
      const update = this.#queue.shift();
      if (!update) return;
      this.#backlog -= streamedLength(update) ?? 0;
      if (this.#backlog <= BACKLOG_LENGTH / 2) {
        this.#drained.resolve();
        this.#drained = Promise.withResolvers<void>();
      }
      try {
        await this.#send(update);
      } catch {
        // The client is gone; the connection says so itself. The log has what was not sent.
      }
      if (streamedLength(update) !== undefined) this.#lastSent = performance.now();
    } while (this.#queue.length > 0 && this.#waitFor(this.#queue[0]!) <= 0);
  }
}
