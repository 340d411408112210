/** Render intents to ACP tool cards. The only switch is on the view's type; no tool is known by name. */
import type {
  ToolCall,
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { stripControl } from "../../tools/control_text.ts";
import type {
  CallView,
  FileDiff,
  FileLocation,
  ResultView,
  ToolContent,
} from "../../tools/presentation.ts";
import { absolutePath, relativeTitle } from "./paths.ts";
import {
  consoleBlock,
  terminalExit,
  terminalInfo,
  terminalOutput,
  type TerminalSupport,
} from "./terminal.ts";

/** What the cards of a session depend on. */
export interface CardContext {
  /** The session's working directory, absolute. */
  readonly cwd: string;
  /** What the client can show. */
  readonly terminal: TerminalSupport;
}

/** The card of a call. Its terminal id, where it has one, is the call id. */
export function toolCallCard(
  callId: string,
  view: CallView,
  status: ToolCallStatus,
  context: CardContext,
): ToolCall {
  const card = { toolCallId: callId, title: cardTitle(view, context), status };
  switch (view.type) {
    case "generic":
      return {
        ...card,
        kind: view.kind ?? "other",
        ...(view.rawInput !== undefined && { rawInput: view.rawInput }),
        ...(view.content && { content: view.content.map(contentBlock) }),
        ...locations(view.locations, context),
      };
    case "diff":
      return {
        ...card,
        kind: "edit",
        content: view.diffs.map((diff) => diffBlock(diff, context)),
        ...locations(view.locations ?? view.diffs, context),
      };
    case "terminal": {
      const content = descriptionBlocks(view);
      if (context.terminal === "none") return { ...card, kind: "execute", content };
      return {
        ...card,
        kind: "execute",
        content: [...content, { type: "terminal", terminalId: callId }],
        _meta: terminalInfo(callId, absolutePath(view.cwd ?? ".", context.cwd)),
      };
    }
    default:
      return unknownView(view);
  }
}

/** A finished call, as its card needs it. */
export interface FinishedCall {
  /** The `toolCallId`. */
  readonly callId: string;
  /** How the call was presented. */
  readonly callView: CallView;
  /** How the result is presented. */
  readonly resultView: ResultView;
  /** What the result's content is where the view brings none. */
  readonly content: readonly ToolContent[];
  /** Whether the tool reports a failure; a terminal's own exit counts as well. */
  readonly isError: boolean;
  /** The terminal output already sent. */
  readonly streamed: string;
}

/** The update that ends a card. */
export function toolResultCard(call: FinishedCall, context: CardContext): ToolCallUpdate {
  const { callId, resultView: view } = call;
  const card: ToolCallUpdate = {
    toolCallId: callId,
    status: call.isError ? "failed" : "completed",
    ...(view.title !== undefined && { title: cardTitle(view, context) }),
  };
  switch (view.type) {
    case "generic": {
      const content = (view.content ?? call.content).map(contentBlock);
      return {
        ...card,
        content: [...descriptionBlocks(call.callView), ...content],
        ...locations(view.locations, context),
      };
    }
    case "diff":
      return {
        ...card,
        content: view.diffs.map((diff) => diffBlock(diff, context)),
        ...locations(view.locations ?? view.diffs, context),
      };
    case "terminal": {
      const failed = view.exit && !("exitCode" in view.exit && view.exit.exitCode === 0);
      if (failed) card.status = "failed";
      if (context.terminal === "none" || call.callView.type !== "terminal") {
        const text = consoleBlock(stripControl(view.output) + exitLine(view));
        return {
          ...card,
          content: [...descriptionBlocks(call.callView), contentBlock({ type: "text", text })],
        };
      }
      // No content: it would replace the terminal block.
      const rest = unsentOutput(view.output, call.streamed);
      const meta = {
        ...(rest !== "" && terminalOutput(context.terminal, callId, rest)),
        ...(view.exit && terminalExit(callId, view.exit)),
      };
      return Object.keys(meta).length > 0 ? { ...card, _meta: meta } : card;
    }
    default:
      return unknownView(view);
  }
}

/** The update that adds output to a running terminal card. */
export function terminalOutputCard(
  callId: string,
  data: string,
  context: CardContext,
): ToolCallUpdate {
  return { toolCallId: callId, _meta: terminalOutput(context.terminal, callId, data) };
}

/** A text card has no other place for how the command ended. A clean exit goes without saying. */
function exitLine({ output, exit }: Extract<ResultView, { type: "terminal" }>): string {
  if (!exit || ("exitCode" in exit && exit.exitCode === 0)) return "";
  const start = output === "" || output.endsWith("\n") ? "" : "\n";
  return "signal" in exit
    ? `${start}[killed by signal: ${exit.signal}]`
    : `${start}[exit code: ${exit.exitCode}]`;
}

/** What of a whole output a client has not seen. A stream that is no prefix of it is followed by the whole. */
function unsentOutput(output: string, streamed: string): string {
  return output.startsWith(streamed) ? output.slice(streamed.length) : `\r\n${output}`;
}

function cardTitle(view: CallView | ResultView, { cwd }: CardContext): string {
  const title = view.title ?? "";
  switch (view.type) {
    case "generic":
      return relativeTitle(title, (view.locations ?? []).map(({ path }) => path), cwd);
    case "diff":
      return relativeTitle(title, view.diffs.map(({ path }) => path), cwd);
    case "terminal":
      // The command itself: what runs is what is shown.
      return title;
    default:
      return unknownView(view);
  }
}

function descriptionBlocks(view: CallView): ToolCallContent[] {
  return view.type === "terminal" && view.description
    ? [contentBlock({ type: "text", text: view.description })]
    : [];
}

function contentBlock(content: ToolContent): ToolCallContent {
  return { type: "content", content };
}

function diffBlock({ path, oldText, newText }: FileDiff, { cwd }: CardContext): ToolCallContent {
  return { type: "diff", path: absolutePath(path, cwd), oldText, newText };
}

function locations(
  found: readonly FileLocation[] | undefined,
  { cwd }: CardContext,
): { locations?: ToolCallLocation[] } {
  if (!found || found.length === 0) return {};
  return {
    locations: found.map(({ path, line }) => ({
      path: absolutePath(path, cwd),
      ...(line !== undefined && { line }),
    })),
  };
}

function unknownView(view: never): never {
  throw new TypeError(`Cannot map an unknown view: ${JSON.stringify(view)}`);
}
