/** The environment a command sees. */

/** A name that holds one of these words is taken for a secret. */
const SECRET =
  /key|secret|token|passw(?:or)?d|passphrase|cred|bearer|cookie|webhook|pass$|(?:_|SQL)pwd$|_auth$|auth(?:orization)?_(?!sock)/i;

/** A URL with a password in it (RFC 3986 section 3.2.1), whatever the variable is called. */
const CREDENTIALS = /:\/\/[^/?#\s:@]*:[^/?#\s@]+@/;

/**
 * Names that would change what runs before or instead of the command: startup files, prompts,
 * exported functions (Shellshock), and the loader variables that Deno refuses to pass on.
 */
const HIJACK =
  /^(?:BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|BASH_FUNC_.*|LD_.*|DYLD_.*)$/;

/** What a shell finds out for itself: inherited, it would be another process's. */
const STATE = /^(?:PWD|OLDPWD|SHLVL|BASH_VERSION|_)$/;

/** This program's own settings: its data folder, its models. None of a command's business. */
const OWN = /^DSH_/i;

/**
 * Set for every command: nobody is there to page, to type a password or to edit a message.
 * Colours are left to the command (no `NO_COLOR`, a real `TERM`): terminal cards show them, and
 * the model's copy has them removed.
 */
const FIXED: Readonly<Record<string, string>> = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "true",
  DEBIAN_FRONTEND: "noninteractive",
};

/** Where services of the user's session listen, which a sandboxed command does not reach. */
const SERVICE =
  /^(?:XDG_RUNTIME_DIR|DBUS_\w+_ADDRESS|DOCKER_HOST|CONTAINER_HOST|TMUX|STY|NVIM|NVIM_LISTEN_ADDRESS|EMACS_SOCKET_NAME|VSCODE_IPC_HOOK(?:_CLI)?|KITTY_LISTEN_ON|WEZTERM_UNIX_SOCKET|WAYLAND_DISPLAY|DISPLAY)$/;

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Builds the complete environment of a command from its parent's.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { shellEnvironment } from "@dsh/acp/bash";
 *
 * const env = shellEnvironment({ PATH: "/bin", OPENAI_API_KEY: "sk", DSH_KV: "/data" });
 * assertEquals([env.PATH, env.PAGER, env.OPENAI_API_KEY, env.DSH_KV], ["/bin", "cat", undefined, undefined]);
 * ```
 *
 * @param parent The program's own environment.
 * @param extra Variables to set on top, as they are.
 */
export function shellEnvironment(
  parent: Readonly<Record<string, string>>,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env: Record<string, string> = { PATH: DEFAULT_PATH, TERM: "xterm-256color" };
  for (const [name, value] of Object.entries(parent)) {
    if (isInherited(name) && !CREDENTIALS.test(value)) env[name] = value;
  }
  // A terminal card has no cursor keys and no alternate screen; it does have colours.
  if (env.TERM === "dumb" || env.TERM === "") env.TERM = "xterm-256color";
  return { ...env, ...FIXED, ...extra };
}

/** Leaves out where the services of the user's session are, which the sandbox hides. */
export function withoutServices(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SERVICE.test(name)));
}

/** Tells whether a command inherits the variable of this name. */
export function isInherited(name: string): boolean {
  return !SECRET.test(name) && !OWN.test(name) && !HIJACK.test(name) &&
    !STATE.test(name);
}
