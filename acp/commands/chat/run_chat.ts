/** `chat`: a conversation with the agent in a terminal, over the protocol that editors speak. */
import { PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { stripControl } from "../../../tools/control_text.ts";
import { agentCommand, mayDoEverything, type ProgramFacts, typedCommand } from "./agent_command.ts";
import { splitLines, startAgentProcess } from "./agent_process.ts";
import { Chat } from "./chat.ts";
import { readChatArguments } from "./_chat_arguments.ts";
import { Conversation, problemText } from "./conversation.ts";
import { Drawing } from "./drawing.ts";
import { type Input, lineInput } from "./input.ts";
import { palette as makePalette } from "./_palette.ts";
import { Questions } from "./questions.ts";
import { safeText } from "./_safe_text.ts";
import { Screen, type ScreenOutput } from "./screen.ts";
import { terminalInput } from "./terminal_input.ts";

/** What the chat is given. */
export interface ChatSurroundings extends Omit<ScreenOutput, "onGone"> {
  /** This program, which is the agent too. */
  readonly program: ProgramFacts;
  /** The options the agent is started with. */
  readonly flags: readonly string[];
  /** What Deno allows this process. */
  readonly query: (descriptor: Deno.PermissionDescriptor) => Deno.PermissionStatus;
  /** The working directory, absolute. */
  readonly cwd: string;
  /** `Deno.stdin`, or something like it. */
  readonly stdin: Pick<typeof Deno.stdin, "readable" | "setRaw" | "isTerminal">;
  /** Whether a terminal is to show colours. */
  readonly colour: boolean;
  /** The columns of the terminal. */
  readonly columns: () => number;
  /** Calls back for every signal that is to end the program. */
  readonly onSignal: (told: (name: keyof typeof SIGNAL_CODES) => void) => void;
}

const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Runs the chat. Resolves with the exit code once the agent's process has ended as well. */
export async function runChat(args: readonly string[], given: ChatSurroundings): Promise<number> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>();
  const screen = new Screen({ ...given, onGone: () => stop(1) });
  const asked = readChatArguments(args);
  if (asked.type === "invalid") {
    screen.note(`dsh-acp: ${asked.message}`);
    return 2;
  }
  if (!mayDoEverything(given.query)) {
    screen.note(
      "dsh-acp: chat starts the agent with all permissions, so it needs them: deno run -A",
    );
    return 2;
  }
  const colour = given.isTerminal && given.colour;
  const drawing = new Drawing({ colour });
  const palette = makePalette(colour);
  const endDrawing = () => screen.print(drawing.end());
  const say = (text: string) => screen.print(drawing.closeLine() + text);

  await using agent = startAgentProcess({
    command: agentCommand(given.program, given.flags),
    onStderr: (line) => screen.note(stripControl(line)),
    handle: (app) =>
      app.onNotification("session/update", ({ params: { sessionId, update } }) => {
        if (conversation.take(sessionId, update)) screen.print(drawing.draw(update));
      }).onRequest(
        "session/request_permission",
        ({ params, signal }) => questions.permission(params, signal),
      ).onRequest("elicitation/create", ({ params, signal }) => questions.form(params, signal)),
  });
  const interrupt = () => {
    if (!chat.interrupt()) stop(SIGNAL_CODES.SIGINT);
  };
  using input = openInput();
  const conversation = new Conversation(agent.agent, given.cwd);
  const questions = new Questions({ input, palette, say, cancelTurn: interrupt });
  const chat = new Chat({
    conversation,
    input,
    palette,
    say,
    endDrawing,
    isClosed: () => agent.closed.aborted,
  });
  given.onSignal((name) => name === "SIGINT" ? interrupt() : stop(SIGNAL_CODES[name]));

  let over = false;
  const died = agent.ended.then(({ code, signal }) => {
    if (!over) screen.note(`dsh-acp: the agent has ended (${signal ?? `exit code ${code}`})`);
    return 1;
  });
  const code = await Promise.race([stopped, died, converse()]);
  over = true;
  if (input.interactive && code === 0 && conversation.prompted) {
    const command = safeText(typedCommand(given.program, given.flags));
    say(`${palette.dim(`Go on with: ${command} chat --resume ${conversation.sessionId}`)}\n`);
  }
  return code;

  async function converse(): Promise<number> {
    try {
      await agent.agent.request("initialize", {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {
          _meta: { terminal_output: true },
          // Without a person nobody could fill in a form.
          ...input.interactive && { elicitation: { form: {} } },
        },
      });
      const code = await chat.run(asked.type === "chat" ? asked.resume : undefined);
      return agent.closed.aborted ? await died : code;
    } catch (error) {
      if (agent.closed.aborted) return await died;
      screen.note(`dsh-acp: ${problemText(error)}`);
      return 1;
    }
  }

  function openInput(): Input {
    if (asked.type === "chat" && asked.prompt !== undefined) {
      return lineInput([asked.prompt].values());
    }
    if (!given.stdin.isTerminal() || !given.isTerminal) {
      return lineInput(splitLines(given.stdin.readable));
    }
    return terminalInput({ ...given, screen, onInterrupt: interrupt, onGone: () => stop(129) });
  }
}
