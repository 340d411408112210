/** Draws tool calls: terminal cards, diff cards, and the rest as a line. */
import type {
  ContentBlock,
  ToolCall,
  ToolCallContent,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { diffHunks } from "./_diff_hunks.ts";
import type { Flow, Style } from "./_flow.ts";
import type { Palette } from "./_palette.ts";
import { coloursAfter, exactText, SafeOutput, safeText } from "./_safe_text.ts";

/** A call as it stands. */
interface Card {
  readonly id: string;
  readonly output: SafeOutput;
  /** The colours that the command's output is in. */
  colours: string;
  title: string;
  kind: string;
  content: readonly ToolCallContent[];
  locations: readonly { readonly line?: number | null }[];
  /** Texts that are on the screen already. */
  readonly told: Set<string>;
  /** Whether its changes are on the screen. */
  diffShown: boolean;
}

/** Lines of a result, and of a change, that are shown. What is to be approved is shown whole. */
const RESULT_LINES = 20;
const DIFF_LINES = 100;

/** What is inside a card. */
const BAR = "│ ";

/** The cards of one session. */
export class CardDrawing {
  readonly #flow: Flow;
  readonly #palette: Palette;
  readonly #cards = new Map<string, Card>();

  constructor(flow: Flow, palette: Palette) {
    this.#flow = flow;
    this.#palette = palette;
  }

  /** A call that was announced. */
  start(call: ToolCall): string {
    const card: Card = {
      id: call.toolCallId,
      output: new SafeOutput(this.#palette.colour),
      colours: "",
      title: "",
      kind: "other",
      content: [],
      locations: [],
      told: new Set(),
      diffShown: false,
    };
    this.#cards.set(card.id, card);
    merge(card, call);
    // The changes of an edit are known when it is done; its head comes with them.
    const head = isDiff(card) ? "" : this.#focus(card);
    return head + (isTerminal(card) ? this.#texts(card) : "") + this.#output(card, call);
  }

  /** A change of a call. */
  update(update: ToolCallUpdate): string {
    const card = this.#cards.get(update.toolCallId);
    if (!card) return "";
    merge(card, update);
    switch (update.status) {
      case "pending":
        // It waits for an approval: what it will do is shown before the question.
        return this.#focus(card) + this.#texts(card, Infinity, exactText) +
          this.#diff(card, Infinity);
      case "completed":
      case "failed":
        this.#cards.delete(card.id);
        return this.#output(card, update) + this.#end(card, update);
      default:
        return this.#output(card, update);
    }
  }

  /** Goes on with a card; its head is repeated where something else came between. */
  #focus(card: Card): string {
    const { bold, cyan } = this.#palette;
    if (this.#flow.block === card.id) return "";
    const terminal = isTerminal(card);
    const entered = this.#flow.enter(card.id, { line: !terminal && !isDiff(card) });
    const mark = terminal ? "$" : "●";
    return entered + this.#flow.lines(exactText(card.title), bold, `${cyan(mark)} `, "  ");
  }

  #output(card: Card, { _meta: meta }: ToolCall | ToolCallUpdate): string {
    const data = record(meta?.["terminal_output"])["data"];
    if (typeof data !== "string") return "";
    const text = card.output.push(data);
    return text === "" ? "" : this.#focus(card) + this.#flow.stream(text, BAR, this.#ink(card));
  }

  /** Colours of a command last over its lines, and never over anything else. */
  #ink(card: Card): Style {
    return (piece) => {
      const before = card.colours;
      card.colours = coloursAfter(piece, before);
      const reset = before !== "" || piece.includes(ESC) ? RESET : "";
      const frames = piece.replace(/\r+/g, () => `${reset}\r${CLEAR_LINE}${BAR}${before}`);
      return before + frames + reset;
    };
  }

  #end(card: Card, { status, _meta: meta }: ToolCallUpdate): string {
    const failed = status === "failed";
    if (isTerminal(card)) {
      const { signal, exit_code: code } = record(meta?.["terminal_exit"]);
      const unknown = failed ? "failed" : "done";
      const how = signal ?? (code === undefined ? unknown : `exit ${code}`);
      return this.#focus(card) + this.#texts(card) + this.#verdict(failed, safeText(String(how)));
    }
    if (failed) {
      return this.#focus(card) + this.#texts(card) + this.#verdict(true, "failed");
    }
    if (isDiff(card)) {
      return card.diffShown
        ? this.#focus(card) + this.#verdict(false, "done")
        : this.#focus(card) + this.#diff(card, DIFF_LINES);
    }
    return QUIET.has(card.kind) ? "" : this.#texts(card);
  }

  #verdict(failed: boolean, text: string): string {
    const { red, green } = this.#palette;
    return this.#flow.lines(text, failed ? red : green, failed ? "✗ " : "✓ ");
  }

  /** The texts of a card that are not on the screen yet. */
  #texts(card: Card, limit = RESULT_LINES, clean = safeText): string {
    const texts = card.content.flatMap((one) =>
      one.type === "content" ? [contentText(one.content)] : []
    ).filter((text) => text.trim() !== "" && !card.told.has(text));
    for (const text of texts) card.told.add(text);
    if (texts.length === 0) return "";
    const shown = clip(clean(texts.join("\n")).trim().split("\n"), limit);
    return this.#focus(card) + this.#flow.lines(shown.join("\n"), this.#palette.dim, BAR);
  }

  #diff(card: Card, limit: number): string {
    const { red, green, dim } = this.#palette;
    const styles = { "+": green, "-": red, " ": dim };
    const diffs = card.content.filter((one) => one.type === "diff");
    if (diffs.length === 0) return "";
    card.diffShown = true;
    const hunks = diffs.flatMap(({ oldText, newText }, index) => {
      const line = card.locations[index]?.line;
      const place = typeof line === "number" ? [dim(`line ${line}`)] : [];
      return diffHunks(oldText, newText).map((lines) => [
        ...place,
        ...lines.map(({ mark, text }) => styles[mark](`${mark} ${exactText(text)}`)),
      ]);
    });
    return this.#flow.lines(clip(hunks.flat(), limit).join("\n"), undefined, BAR);
  }
}

/** What shows nothing of what it found: that is for the model. */
const QUIET: ReadonlySet<string> = new Set(["read", "search"]);

const ESC = "\x1b";
const RESET = "\x1b[0m";
const CLEAR_LINE = "\x1b[K";

/** A block as text. */
export function contentText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.name}](${block.uri})`;
    default:
      return `[${block.type}]`;
  }
}

function merge(card: Card, update: ToolCall | ToolCallUpdate): void {
  card.title = update.title ?? card.title;
  card.kind = update.kind ?? card.kind;
  card.content = update.content ?? card.content;
  card.locations = update.locations ?? card.locations;
}

function isTerminal({ content }: Card): boolean {
  return content.some(({ type }) => type === "terminal");
}

function isDiff({ content }: Card): boolean {
  return content.some(({ type }) => type === "diff");
}

function clip(lines: readonly string[], limit: number): readonly string[] {
  if (lines.length <= limit) return lines;
  return [...lines.slice(0, limit), `… ${lines.length - limit} more lines`];
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
