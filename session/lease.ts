/**
 * Who owns a live session. A lease is a record in the store that its owner renews; nobody else
 * opens the session until it is released or has run out.
 *
 * Taking a lease also writes the log's tail anew. A former owner, for example on a laptop that
 * slept, still holds the old versionstamp of the tail: its next append is refused by the check
 * that every append makes anyway. So the lease costs an append nothing, and the log stays in order
 * even where two clocks disagree about who owns it.
 */
import {
  describeHolder,
  type LeaseHolder,
  type ProcessIdentity,
  readHolder,
} from "./lease_holder.ts";
import { keys } from "./_keys.ts";
import { type Kv, type KvEntry, retryLocked } from "./kv.ts";
import { LogConflictError, SessionInUseError } from "./log_errors.ts";
import type { StartTimer } from "./model/start_timer.ts";

/** Options of leases. */
export interface LeaseOptions {
  /** How long a lease lives without a renewal, in milliseconds. @default {15_000} */
  readonly leaseMs?: number;
  /** How often it is renewed, in milliseconds. @default {a third of `leaseMs`} */
  readonly heartbeatMs?: number;
  /** What is said of this process. @default {nothing} */
  readonly identity?: ProcessIdentity;
  /** Whether a holder is known for sure to be dead. Doubt is false. @default {always false} */
  readonly isGone?: (holder: ProcessIdentity) => Promise<boolean>;
  /** How the heartbeat is timed. @default {a timer that keeps no program alive} */
  readonly startTimer?: StartTimer;
}

/** How long a lease lives without a renewal, unless told otherwise, in milliseconds. */
export const LEASE_MS = 15_000;

/**
 * Takes the lease of a session, with the tail of its log as it is from now on.
 *
 * @throws {SessionInUseError} If somebody else has it. Nothing was written.
 */
export async function takeLease(
  kv: Kv,
  id: string,
  options: LeaseOptions & { readonly now: () => number },
): Promise<{ readonly lease: SessionLease; readonly tail: KvEntry }> {
  const leaseMs = options.leaseMs ?? LEASE_MS;
  for (;;) {
    const held = await retryLocked(() => kv.get(keys.lease(id)));
    const holder = readHolder(held.value);
    if (holder && await isInForce(holder, leaseMs, options)) {
      throw new SessionInUseError(id, holder, describeHolder(holder, options.now()));
    }
    const tail = await retryLocked(() => kv.get(keys.tail(id)));
    const since = options.now();
    const mine: LeaseHolder = {
      ...options.identity,
      owner: crypto.randomUUID(),
      since,
      until: since + leaseMs,
    };
    const { ok, versionstamp } = await retryLocked(() => {
      const atomic = kv.atomic()
        .check({ key: keys.lease(id), versionstamp: held.versionstamp })
        .check({ key: keys.tail(id), versionstamp: tail.versionstamp })
        .set(keys.lease(id), mine);
      if (tail.versionstamp !== null) atomic.set(keys.tail(id), tail.value);
      return atomic.commit();
    });
    // Otherwise somebody was faster: look again at who has it now.
    if (ok && versionstamp !== undefined) {
      const lease = new SessionLease(kv, id, { ...options, leaseMs }, mine, versionstamp);
      return { lease, tail: tail.versionstamp === null ? tail : { ...tail, versionstamp } };
    }
  }
}

/** Who has a session open now, if anybody: for those who would delete or rewrite it. */
export async function leaseHolder(
  kv: Kv,
  id: string,
  options: LeaseOptions & { readonly now: () => number },
): Promise<LeaseHolder | undefined> {
  const holder = readHolder((await retryLocked(() => kv.get(keys.lease(id)))).value);
  const inForce = holder && await isInForce(holder, options.leaseMs ?? LEASE_MS, options);
  return inForce ? holder : undefined;
}

/** A lease that is held: renews itself until it is released or lost. */
export class SessionLease {
  #kv: Kv;
  #id: string;
  #options: LeaseOptions & { readonly now: () => number; readonly leaseMs: number };
  #holder: LeaseHolder;
  #versionstamp: string;
  #stopTimer: () => void = () => {};
  #renewing: Promise<void> = Promise.resolve();
  #released: Promise<void> | undefined;
  #lost = new AbortController();

  /** Use {@linkcode takeLease} to get one. */
  constructor(
    kv: Kv,
    id: string,
    options: LeaseOptions & { readonly now: () => number; readonly leaseMs: number },
    holder: LeaseHolder,
    versionstamp: string,
  ) {
    this.#kv = kv;
    this.#id = id;
    this.#options = options;
    this.#holder = holder;
    this.#versionstamp = versionstamp;
    this.#schedule();
  }

  /** Aborts with a {@linkcode LogConflictError} when somebody else took the session over. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether it was released or lost. */
  get ended(): boolean {
    return this.#released !== undefined || this.#lost.signal.aborted;
  }

  /** Looks at once whether it is still held, and marks it lost where not. */
  async verify(): Promise<void> {
    await this.#renewing;
    if (!this.ended) await this.#renew();
  }

  /** Gives the session free. Where the store cannot be reached, the lease runs out by itself. */
  release(): Promise<void> {
    return this.#released ??= this.#release();
  }

  async #release(): Promise<void> {
    this.#stopTimer();
    await this.#renewing;
    if (this.#lost.signal.aborted) return;
    try {
      await retryLocked(() =>
        this.#kv.atomic()
          .check({ key: keys.lease(this.#id), versionstamp: this.#versionstamp })
          .delete(keys.lease(this.#id))
          .commit()
      );
    } catch {
      // Nobody waits for it longer than it lives.
    }
  }

  #schedule(): void {
    const delay = this.#options.heartbeatMs ?? Math.ceil(this.#options.leaseMs / 3);
    this.#stopTimer = (this.#options.startTimer ?? startIdleTimer)(() => {
      this.#renewing = this.#renew().then(() => {
        if (!this.ended) this.#schedule();
      });
    }, delay);
  }

  async #renew(): Promise<void> {
    const renewed = { ...this.#holder, until: this.#options.now() + this.#options.leaseMs };
    try {
      const { ok, versionstamp } = await retryLocked(() =>
        this.#kv.atomic()
          .check({ key: keys.lease(this.#id), versionstamp: this.#versionstamp })
          .set(keys.lease(this.#id), renewed)
          .commit()
      );
      if (ok && versionstamp !== undefined) {
        this.#versionstamp = versionstamp;
        return;
      }
      await this.#findOut();
    } catch {
      // A store that cannot be reached or is full: the next beat tries again, and an append of
      // anybody says it louder. Should another process take over meanwhile, the tail tells.
    }
  }

  /** The record is not the one that was written: is it somebody else's, or gone? */
  async #findOut(): Promise<void> {
    const entry = await retryLocked(() => this.#kv.get(keys.lease(this.#id)));
    const holder = readHolder(entry.value);
    if (holder?.owner === this.#holder.owner && entry.versionstamp !== null) {
      // The answer to an earlier renewal was lost on its way.
      this.#versionstamp = entry.versionstamp;
      return;
    }
    this.#stopTimer();
    this.#lost.abort(
      new LogConflictError(
        `Cannot go on with the session ${this.#id} as ` +
          (holder
            ? `${describeHolder(holder)}: it took the session over`
            : "it was taken over or deleted elsewhere"),
      ),
    );
  }
}

async function isInForce(
  holder: LeaseHolder,
  leaseMs: number,
  { now, isGone }: LeaseOptions & { readonly now: () => number },
): Promise<boolean> {
  const left = holder.until - now();
  // One that would live for much longer than any lease: the clock was set back.
  if (left <= 0 || left > Math.max(leaseMs, LEASE_MS) * 4) return false;
  return !await isGone?.(holder);
}

function startIdleTimer(callback: () => void, delayMs: number): () => void {
  const id = setTimeout(callback, delayMs);
  Deno.unrefTimer(id);
  return () => clearTimeout(id);
}
