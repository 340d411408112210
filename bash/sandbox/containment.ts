/** How a command's processes are held together and fenced in. */

/** The file descriptors and the end of a command run inside `bwrap`: see `start_shell.ts`. */
export interface BubblewrapContainment {
  /** Tells the kinds apart. */
  readonly type: "bubblewrap";
  /** The absolute path of `bwrap`. */
  readonly program: string;
  /** Everything up to the command. */
  readonly args: readonly string[];
}

/** macOS: `sandbox-exec` fences writes; the process group holds the processes together. */
export interface SeatbeltContainment {
  /** Tells the kinds apart. */
  readonly type: "seatbelt";
  /** The absolute path of `sandbox-exec`. */
  readonly program: string;
  /** Everything up to the command. */
  readonly args: readonly string[];
}

/** No fence: a process group of its own, and a marker variable for what leaves the group. */
export interface ProcessGroupContainment {
  /** Tells the kinds apart. */
  readonly type: "process-group";
}

/** A way to run a command. */
export type Containment =
  | BubblewrapContainment
  | SeatbeltContainment
  | ProcessGroupContainment;

/** The containment that every POSIX system has. */
export const PROCESS_GROUP: ProcessGroupContainment = { type: "process-group" };
