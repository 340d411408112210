/** What follows `chat` on the command line. */
export type ChatArguments =
  | {
    readonly type: "chat";
    /** The only prompt; without it, prompts are read from stdin. */
    readonly prompt: string | undefined;
    /** The session to go on with: an id, or its beginning. */
    readonly resume: string | undefined;
  }
  /** `message` says what is wrong, and names it. */
  | { readonly type: "invalid"; readonly message: string };

/** Reads the arguments. Words that are no option are the prompt, as is everything after `--`. */
export function readChatArguments(args: readonly string[]): ChatArguments {
  const words: string[] = [];
  let resume: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--") {
      words.push(...args.slice(at + 1));
      break;
    }
    const inline = /^--resume=(.*)$/s.exec(arg)?.[1];
    if (arg === "--resume" || inline !== undefined) {
      resume = inline ?? args[++at];
      if (!resume) return { type: "invalid", message: "--resume needs the id of a session" };
    } else if (arg.startsWith("-")) {
      const message = `chat takes --resume ID and a prompt; got "${arg}"`;
      return { type: "invalid", message };
    } else {
      words.push(arg);
    }
  }
  const prompt = words.join(" ");
  if (words.length > 0 && prompt.trim() === "") {
    return { type: "invalid", message: `the prompt must not be empty; got "${prompt}"` };
  }
  return { type: "chat", prompt: words.length > 0 ? prompt : undefined, resume };
}
