/** The record of who has a session open. */

/** What a process says of itself, for people and for others that look whether it still runs. */
export interface ProcessIdentity {
  /** Its id, where it runs. */
  readonly pid?: number;
  /** The name of the machine. */
  readonly host?: string;
  /** Where its id means this very process, in a form only `LeaseOptions.isGone` reads. */
  readonly place?: string;
}

/** The lease as it is stored. */
export interface LeaseHolder extends ProcessIdentity {
  /** Random, and another one for each time a lease is taken. */
  readonly owner: string;
  /** When it was taken, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** When it runs out unless it is renewed, in milliseconds since the Unix epoch. */
  readonly until: number;
}

/** A stored lease, if it is one. */
export function readHolder(value: unknown): LeaseHolder | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { owner, since, until } = value as Partial<Record<keyof LeaseHolder, unknown>>;
  return typeof owner === "string" && typeof since === "number" && typeof until === "number"
    ? value as LeaseHolder
    : undefined;
}

/** The holder in words; completes "Cannot open the session … as". `now` adds when it ends. */
export function describeHolder(holder: LeaseHolder, now?: number): string {
  const where = [
    ...holder.pid === undefined ? [] : [`pid ${holder.pid}`],
    ...holder.host === undefined ? [] : [`on host "${holder.host}"`],
    `since ${new Date(holder.since).toISOString()}`,
  ].join(" ");
  const rest = now === undefined
    ? ""
    : `. If that process is gone, the session is free in ${
      Math.ceil((holder.until - now) / 1_000)
    } s`;
  return `another process has it open (${where})${rest}`;
}
