/** What this process is called where several share a store, and whether another still runs. */
import type { ProcessIdentity } from "../session/lease_holder.ts";
import type { PermissionQuery } from "./_grants.ts";

/** This process, and how to tell that another one is gone. */
export interface ProcessLookup {
  /** This process. */
  readonly identity: ProcessIdentity;
  /** Whether a process is known for sure to be gone. */
  readonly isGone: (other: ProcessIdentity) => Promise<boolean>;
}

/**
 * Finds out as much as is granted: the host's name with `--allow-sys=hostname`. Whether another
 * process is gone can be told on Linux with `--allow-all`, which Deno asks for to read /proc;
 * elsewhere nothing is sure, and a lease has to run out.
 */
export async function processLookup(granted: PermissionQuery): Promise<ProcessLookup> {
  const place = granted({ name: "read" }) ? await ownPlace() : undefined;
  const identity: ProcessIdentity = {
    pid: Deno.pid,
    ...granted({ name: "sys", kind: "hostname" }) && { host: Deno.hostname() },
    ...place && { place: `${place.system} ${place.started}` },
  };
  return {
    identity,
    async isGone({ pid, place: other }) {
      const [system, started] = splitPlace(other);
      if (!place || pid === undefined || system !== place.system) return false;
      const found = await processStat(pid);
      switch (found.type) {
        case "running":
          return found.started !== started;
        case "missing":
          // Where /proc hides the processes of others, it hides the first one too.
          return (await processStat(1)).type === "running";
        case "unknown":
          return false;
      }
    },
  };
}

/** The boot and the PID namespace in which ids mean something, and when this process began. */
async function ownPlace(): Promise<{ system: string; started: string } | undefined> {
  try {
    const boot = (await Deno.readTextFile("/proc/sys/kernel/random/boot_id")).trim();
    const namespace = await Deno.readLink("/proc/self/ns/pid");
    const own = await processStat(Deno.pid);
    return own.type === "running"
      ? { system: `${boot} ${namespace}`, started: own.started }
      : undefined;
  } catch {
    // Not Linux, or not granted: nothing is known then.
    return undefined;
  }
}

type ProcessStat =
  /** `started` is in clock ticks since the boot. */
  | { readonly type: "running"; readonly started: string }
  | { readonly type: "missing" }
  | { readonly type: "unknown" };

/** `/proc/PID/stat`: the state and the start time are fields 3 and 22 (man 5 proc). */
async function processStat(pid: number): Promise<ProcessStat> {
  try {
    const text = await Deno.readTextFile(`/proc/${pid}/stat`);
    // The second field is the program's name in parentheses, and may hold any character.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state, started] = [fields[0], fields[19]];
    if (state === "Z" || state === "X") return { type: "missing" };
    return started === undefined ? { type: "unknown" } : { type: "running", started };
  } catch (error) {
    return { type: error instanceof Deno.errors.NotFound ? "missing" : "unknown" };
  }
}

function splitPlace(place: string | undefined): readonly [string | undefined, string | undefined] {
  const space = place?.lastIndexOf(" ") ?? -1;
  return place === undefined || space < 0
    ? [undefined, undefined]
    : [place.slice(0, space), place.slice(space + 1)];
}
