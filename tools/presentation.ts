/**
 * The presentation vocabulary: how a tool says what its call and its result look like, in words
 * that name no user interface. A bridge maps these views to its own protocol.
 */
import type { Json } from "./json.ts";

/** What a call does, for icons and grouping. The names are those of ACP's `ToolKind`. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "other";

/** A place in a file that a call touches. */
export interface FileLocation {
  /** A path, absolute or relative to the session's working directory. */
  readonly path: string;
  /** The line, counted from 1. */
  readonly line?: number;
}

/** A change to one file, or to one hunk of it. */
export interface FileDiff {
  /** A path, absolute or relative to the session's working directory. */
  readonly path: string;
  /** The text before, or null where the file is new. */
  readonly oldText: string | null;
  /** The text after. */
  readonly newText: string;
}

/** One piece of what a tool returns, to the model and to a person. */
export type ToolContent =
  | { readonly type: "text"; readonly text: string }
  /** `data` is base64 (RFC 4648 section 4), `mimeType` a media type such as `image/png`. */
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/** A call that has no shape of its own: a title and, if useful, its input. */
export interface GenericCallView {
  /** Which view this is. */
  readonly type: "generic";
  /** One line. Paths inside the session's working directory are shown relative to it. */
  readonly title: string;
  /**
   * The icon and the group.
   *
   * @default {"other"}
   */
  readonly kind?: ToolKind;
  /** The arguments, where a person gains from seeing them. */
  readonly rawInput?: Json;
  /** What a person sees before there is a result. */
  readonly content?: readonly ToolContent[];
  /** Where it looks or writes. */
  readonly locations?: readonly FileLocation[];
}

/** A command that runs in a terminal. */
export interface TerminalCallView {
  /** Which view this is. */
  readonly type: "terminal";
  /** The exact command: editors show nothing else of it. */
  readonly title: string;
  /** One sentence on what the command is for. */
  readonly description?: string;
  /** Where it runs: absolute, or relative to the session's working directory (the default). */
  readonly cwd?: string;
}

/** A change to files. */
export interface DiffCallView {
  /** Which view this is. */
  readonly type: "diff";
  /** One line. Paths inside the session's working directory are shown relative to it. */
  readonly title: string;
  /** The change as it is asked for. */
  readonly diffs: readonly FileDiff[];
  /** Where it changes something. */
  readonly locations?: readonly FileLocation[];
}

/** How a call looks before its result is known. */
export type CallView = GenericCallView | TerminalCallView | DiffCallView;

/** A result that has no shape of its own. */
export interface GenericResultView {
  /** Which view this is. */
  readonly type: "generic";
  /** Replaces the call's title. */
  readonly title?: string;
  /** What a person sees. Absent: the result's own content. */
  readonly content?: readonly ToolContent[];
  /** Where it looked or wrote. */
  readonly locations?: readonly FileLocation[];
}

/** What a command printed, and how it ended. */
export interface TerminalResultView {
  /** Which view this is. */
  readonly type: "terminal";
  /** Replaces the call's title. */
  readonly title?: string;
  /**
   * The whole output as a terminal would receive it, escape sequences and carriage returns
   * included. It begins with everything the call streamed while it ran.
   */
  readonly output: string;
  /** How the process ended. Absent: it never ran, or goes on in the background. */
  readonly exit?: TerminalExit;
}

/** How a process ended: its exit code (0 to 255), or the signal that killed it (`SIGKILL`). */
export type TerminalExit =
  | { readonly exitCode: number }
  | { readonly signal: string };

/** The change as it was made. */
export interface DiffResultView {
  /** Which view this is. */
  readonly type: "diff";
  /** Replaces the call's title. */
  readonly title?: string;
  /** The change as it was made. */
  readonly diffs: readonly FileDiff[];
  /** Where it changed something. */
  readonly locations?: readonly FileLocation[];
}

/** How a finished call looks. */
export type ResultView = GenericResultView | TerminalResultView | DiffResultView;
