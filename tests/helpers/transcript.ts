/** Draws session updates as text, the way an editor would draw them as cards. */
import type { Json, JsonObject } from "../../tools/json.ts";
import { isJsonObject, member } from "./frames.ts";

const WIDTH = 76;

/** One call as it stands after the updates so far. */
interface Card {
  title: string;
  kind: string;
  status: string;
  content: readonly Json[];
  locations: readonly Json[];
  terminal: string;
  exit: JsonObject | undefined;
}

/**
 * The state of a session's view. Feed it updates; it returns the lines that become visible: text
 * as it comes, a card once its call has ended.
 */
export class Transcript {
  readonly #cards = new Map<string, Card>();
  readonly #cwd: string;
  #text = "";
  #textKind = "";

  /** Paths inside `cwd` are shown relative to it. */
  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Takes one update. */
  add(update: JsonObject): string[] {
    const kind = String(update["sessionUpdate"]);
    if (kind.endsWith("_chunk")) return this.#addText(kind, update);
    if (kind !== "tool_call" && kind !== "tool_call_update") return [];
    const lines = this.flush();
    const id = String(update["toolCallId"]);
    const card = merge(this.#cards.get(id), update);
    this.#cards.set(id, card);
    if (card.status !== "completed" && card.status !== "failed") return lines;
    this.#cards.delete(id);
    return [...lines, ...draw(card).map((line) => line.replaceAll(`${this.#cwd}/`, ""))];
  }

  /** The text that is not complete yet. */
  flush(): string[] {
    const mark = MARKS[this.#textKind] ?? "";
    const lines = this.#text ? this.#text.split("\n").map((line) => `${mark}${line}`) : [];
    this.#text = "";
    return lines;
  }

  #addText(kind: string, update: JsonObject): string[] {
    const lines = kind === this.#textKind ? [] : this.flush();
    this.#textKind = kind;
    this.#text += String(member(update, "content")["text"] ?? "");
    return lines;
  }
}

const MARKS: Readonly<Record<string, string>> = {
  user_message_chunk: "> ",
  agent_message_chunk: "",
  agent_thought_chunk: "~ ",
};

function merge(card: Card | undefined, update: JsonObject): Card {
  const meta = member(update, "_meta");
  const output = [meta["terminal_output"], meta["terminal_output_delta"]]
    .map((part) => member(part)["data"] ?? "").join("");
  const content = update["content"];
  const locations = update["locations"];
  return {
    title: String(update["title"] ?? card?.title ?? ""),
    kind: String(update["kind"] ?? card?.kind ?? "other"),
    status: String(update["status"] ?? card?.status ?? "pending"),
    content: Array.isArray(content) ? content : card?.content ?? [],
    locations: Array.isArray(locations) ? locations : card?.locations ?? [],
    terminal: (card?.terminal ?? "") + output,
    exit: isJsonObject(meta["terminal_exit"]) ? meta["terminal_exit"] : card?.exit,
  };
}

function draw(card: Card): string[] {
  const end = card.exit
    ? card.exit["signal"] ? ` · ${card.exit["signal"]}` : ` · exit ${card.exit["exit_code"]}`
    : "";
  const body = card.content.flatMap((block) => drawBlock(block, card));
  const head = `┌ ${card.kind} · ${card.status}${end} `;
  return [
    head.padEnd(WIDTH, "─"),
    ...card.title.split("\n").map((line) => `│ ${line}`),
    ...(body.length > 0 ? ["├".padEnd(WIDTH, "─")] : []),
    ...body.map((line) => `│ ${line}`),
    "└".padEnd(WIDTH, "─"),
  ];
}

function drawBlock(block: Json, card: Card): string[] {
  const one = member(block);
  switch (one["type"]) {
    case "diff":
      return [
        `${one["path"]}`,
        ...lines(one["oldText"]).map((line) => `- ${line}`),
        ...lines(one["newText"]).map((line) => `+ ${line}`),
      ];
    case "terminal":
      return lines(card.terminal).map((line) => `$ ${line}`);
    default:
      return lines(member(one, "content")["text"]);
  }
}

function lines(text: Json | undefined): string[] {
  return typeof text === "string" && text ? text.replace(/\r?\n$/, "").split("\n") : [];
}
