/** The lines that are for the chat itself: options, sessions, help. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import { type Conversation, problemText } from "./conversation.ts";
import { safeText } from "./_safe_text.ts";

/** What a line was. */
export type SlashOutcome = "done" | "failed" | "quit" | "prompt";

/** What the commands need. */
export interface SlashDesk {
  readonly conversation: Conversation;
  readonly say: (text: string) => void;
}

const HELP = `/model [NAME]        the model: what there is, or another one
/permission [NAME]   what the agent may do
/effort [NAME]       how long the model thinks, where it has a choice
/sessions            the sessions of this folder
/load ID             go on with a session; the beginning of its id is enough
/new                 start a session
/help                this text
/quit                leave, as does Ctrl-D
!COMMAND             run a command without a model
Ctrl-C cancels what is going on. Everything else is a prompt.
`;

/** The categories by which the agent marks its options. */
const OPTIONS: Readonly<Record<string, string>> = {
  "/model": "model",
  "/permission": "mode",
  "/effort": "thought_level",
};

/** Does what a line asks for. A `/` command that is unknown here is a prompt like any other. */
export async function runSlashCommand(line: string, desk: SlashDesk): Promise<SlashOutcome> {
  const [name = "", ...words] = line.trim().split(/\s+/);
  const argument = words.join(" ");
  const run = commandOf(name, argument, desk);
  if (!run) return "prompt";
  try {
    return await run();
  } catch (error) {
    desk.say(`${safeText(problemText(error))}\n`);
    return "failed";
  }
}

/** Opens a stored session by its id or the beginning of it. */
export async function loadSession(
  id: string,
  { conversation, say }: SlashDesk,
  { replay }: { readonly replay: boolean },
): Promise<SlashOutcome> {
  const search = await conversation.find(id);
  switch (search.type) {
    case "found":
      await conversation.load(search.session, { replay });
      return "done";
    case "none":
      say(`No session has an id that starts with "${safeText(id)}"; /sessions lists them\n`);
      return "failed";
    case "ambiguous":
      say(`${search.count} sessions have an id that starts with "${safeText(id)}"\n`);
      return "failed";
    default: {
      const never: never = search;
      throw new TypeError(`Cannot open an unknown search: ${JSON.stringify(never)}`);
    }
  }
}

function commandOf(
  name: string,
  argument: string,
  desk: SlashDesk,
): (() => Promise<SlashOutcome>) | undefined {
  const { conversation, say } = desk;
  const category = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  if (category !== undefined) return () => setOption(name, category, argument, desk);
  switch (name) {
    case "/sessions":
      return () => listSessions(desk);
    case "/load":
      return () => {
        if (argument !== "") return loadSession(argument, desk, { replay: true });
        say("/load needs the id of a session; /sessions lists them\n");
        return Promise.resolve("failed");
      };
    case "/new":
      return async () => {
        await conversation.start();
        say(`New session ${conversation.sessionId}\n`);
        return "done";
      };
    case "/help":
      return () => {
        say(HELP);
        return Promise.resolve("done");
      };
    case "/quit":
    case "/exit":
      return () => Promise.resolve("quit");
    default:
      return undefined;
  }
}

async function setOption(
  name: string,
  category: string,
  wanted: string,
  { conversation, say }: SlashDesk,
): Promise<SlashOutcome> {
  const option = conversation.options.find((one) => one.category === category);
  if (option?.type !== "select") {
    say(`There is nothing to choose for ${name} now\n`);
    return wanted === "" ? "done" : "failed";
  }
  const choices = choicesOf(option);
  if (wanted === "") {
    const lines = choices.map(({ value, name, description }) => {
      const mark = value === option.currentValue ? "*" : " ";
      const words = name === value ? description : [name, description].filter(Boolean).join(". ");
      return `${mark} ${value}${words ? `  ${words}` : ""}`;
    });
    say(`${safeText(lines.join("\n"))}\n`);
    return "done";
  }
  const value = matching(choices, wanted);
  if (value === undefined) {
    const known = choices.map((choice) => choice.value).join(", ");
    say(`${name} must be one of ${safeText(known)}; got "${safeText(wanted)}"\n`);
    return "failed";
  }
  await conversation.choose(option.id, value);
  say(`${safeText(`${option.name}: ${value}`)}\n`);
  return "done";
}

/** The choice that is meant: by its value, or by a part of it that no other has. */
function matching(choices: readonly Choice[], wanted: string): string | undefined {
  if (choices.some(({ value }) => value === wanted)) return wanted;
  const part = wanted.toLowerCase();
  const found = choices.filter(({ value, name }) =>
    value.toLowerCase().includes(part) || name.toLowerCase().includes(part)
  );
  return found.length === 1 ? found[0]?.value : undefined;
}

async function listSessions({ conversation, say }: SlashDesk): Promise<SlashOutcome> {
  const { sessions, more } = await conversation.list();
  if (sessions.length === 0) say("No session was prompted in this folder yet\n");
  for (const { sessionId, title, updatedAt } of sessions) {
    const mark = sessionId === conversation.sessionId ? "*" : " ";
    const day = updatedAt?.slice(0, 16).replace("T", " ") ?? "";
    say(`${mark} ${sessionId}  ${day}  ${safeText(title ?? "").replaceAll("\n", " ")}\n`);
  }
  if (more) say("There are older ones\n");
  return "done";
}

interface Choice {
  readonly value: string;
  readonly name: string;
  readonly description?: string | null;
}

function choicesOf(option: Extract<SessionConfigOption, { type: "select" }>): Choice[] {
  return option.options.flatMap((one) => "options" in one ? one.options : [one]);
}
