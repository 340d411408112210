/** What can be typed after the program's name: one table for the parser, `--help` and completion. */

/** An option. */
export interface OptionFacts {
  /** What its value is called; absent: it takes none. */
  readonly value?: string;
  /** What its value can be. */
  readonly choices?: readonly string[];
  /** Whether its value is a path. */
  readonly path?: boolean;
  /** In a few words. */
  readonly summary: string;
  /** The variable that does the same. */
  readonly variable?: string;
}

/** A command. */
export interface CommandFacts {
  /** What follows its name, as `--help` shows it. */
  readonly usage: string;
  /** In a few words. */
  readonly summary: string;
  /** One more line of `--help`. */
  readonly more?: string;
  /** What its argument can be. */
  readonly choices?: readonly string[];
  /** Whether its argument is a path. */
  readonly path?: boolean;
  /** Its own options. */
  readonly options?: Readonly<Record<string, OptionFacts>>;
}

/** The options of all commands. */
export const OPTIONS = {
  "--model": {
    value: "PROVIDER/MODEL",
    summary: "the model new sessions start with",
    variable: "DSH_MODEL",
  },
  "--permission-mode": {
    value: "MODE",
    choices: ["workspace-write", "danger-full-access"],
    summary: "workspace-write or danger-full-access",
    variable: "DSH_PERMISSION_MODE",
  },
  "--sandbox-network": {
    value: "on|off",
    choices: ["on", "off"],
    summary: "whether commands reach the network",
    variable: "DSH_SANDBOX_NETWORK",
  },
  "--kv": {
    value: "PATH|URL",
    path: true,
    summary: "where sessions are kept",
    variable: "DSH_KV",
  },
  "--plugin": {
    value: "MODULE",
    path: true,
    summary: "a module with tools of your own; repeatable",
    variable: "DSH_PLUGINS",
  },
} satisfies Readonly<Record<string, OptionFacts>>;

/** What is answered at once. */
export const ANSWERED: Readonly<Record<string, OptionFacts>> = {
  "--help": { summary: "show this text" },
  "--version": { summary: "show the version" },
};

/** The commands, in the order of `--help`. */
export const COMMANDS = {
  chat: {
    usage: "[PROMPT]",
    summary: "talk to the agent in this terminal, or have one prompt answered",
    more: "--resume ID goes on with a session",
    options: { "--resume": { value: "ID", summary: "go on with a session" } },
  },
  doctor: { usage: "", summary: "check what the agent needs and say what is missing" },
  login: {
    usage: "[PROVIDER]",
    summary: "store a key: asked for, or read from stdin",
    choices: ["deepseek", "anthropic", "openai"],
    options: { "--base-url": { value: "URL", summary: "where an OpenAI-compatible server is" } },
  },
  logout: { usage: "", summary: "remove the stored keys" },
  export: { usage: "ID", summary: "write a session to stdout, as JSON Lines" },
  import: { usage: "FILE", summary: "read a session from such a file", path: true },
  repair: {
    usage: "ID [--write]",
    summary: "say what is damaged in a session; with --write, mend it",
    options: { "--write": { summary: "mend what can be mended" } },
  },
  prune: {
    usage: "--older-than DAYS",
    summary: "delete sessions that old and give their space back",
    options: { "--older-than": { value: "DAYS", summary: "the age, in days" } },
  },
  completions: {
    usage: "SHELL",
    summary: "print what completes all this in bash, zsh or fish",
    choices: ["bash", "zsh", "fish"],
  },
} satisfies Readonly<Record<string, CommandFacts>>;

/** What the program does instead of serving. */
export type CommandName = keyof typeof COMMANDS;

/** The text of `--help`. */
export function helpText(): string {
  const commands = Object.entries<CommandFacts>(COMMANDS).map(([name, facts]) => {
    const first = row(`${name} ${facts.usage}`, facts.summary);
    return facts.more === undefined ? first : `${first};\n${row("", facts.more)}`;
  });
  const options = Object.entries<OptionFacts>({ ...OPTIONS, ...ANSWERED }).map(
    ([name, { value, summary, variable }]) =>
      row(
        value === undefined ? name : `${name} ${value}`,
        variable === undefined ? summary : `${summary.padEnd(43)}(${variable})`,
      ),
  );
  return `dsh-acp: a coding agent for editors that speak the Agent Client Protocol (ACP)

Usage: dsh-acp [options]
       dsh-acp [options] COMMAND

Serves ACP on stdin and stdout until stdin closes. An editor starts it; see the README.

Commands:
${commands.join("\n")}

Options:
${options.join("\n")}

Models: DEEPSEEK_API_KEY, ANTHROPIC_API_KEY, or OPENAI_BASE_URL (any OpenAI-compatible server) with
DSH_MODEL and, where the server wants one, OPENAI_API_KEY.
A prompt that starts with ! runs the rest as a command, without a model.
DSH_QUESTION_TIMEOUT is how long a question to you stays open, in seconds (600).
DSH_WEB_FETCH is where pages may be fetched from: public (the internet), any, or off.
DENO_KV_ACCESS_TOKEN is the token of a remote store; DSH_KV_TIMEOUT, how long it is waited for (10).
DSH_LOG=debug writes a log to stderr.`;
}

function row(left: string, right: string): string {
  return `  ${left.padEnd(28)}${right}`;
}
