import type { ShellParser, SimpleWord } from "./shell_parser.ts";

/** Programs that only look. Their options and arguments may vary within one scope. */
const LOOKING = new Set(
  "cat head tail grep egrep fgrep ls pwd wc stat file du df which uname whoami id cut tr nl cksum sha256sum md5sum basename dirname realpath readlink diff cmp"
    .split(" "),
);

/** Programs whose subcommand says what they do: the scope is the program and this many words. */
const SUBCOMMANDS: Readonly<Record<string, Readonly<Record<string, 2 | 3>>>> = {
  git: words(
    2,
    "status diff log show branch tag add rm mv commit fetch pull push checkout switch restore stash merge rebase cherry-pick revert reset blame describe rev-parse ls-files ls-tree remote init",
  ),
  npm: { ...words(2, "test install ci ls outdated audit view"), ...words(3, "run") },
  pnpm: { ...words(2, "test install ls outdated audit"), ...words(3, "run") },
  yarn: { ...words(2, "test install"), ...words(3, "run") },
  deno: { ...words(2, "check lint fmt test doc info"), ...words(3, "task") },
  cargo: words(2, "build check test clippy fmt doc tree"),
  go: words(2, "build test vet fmt list"),
};

/**
 * Options of git that run another program or write where they like, shortened as git lets them
 * be: `--upload-pack`, `--receive-pack`, `--exec`, `--ext-diff`, `--output`, `--template`, `-c`.
 */
const GIT_TELLING = /^(?:--(?:up|rec|ex|ou|op|te|conf)|-[cxO]|ext::)/;

/** Options of the other tools that change nothing about what they run. */
const PLAIN_OPTION =
  /^(?:-[vqs]|--(?:verbose|quiet|silent|release|workspaces?|all|all-targets|check|fix|locked|frozen))$/;

/**
 * The part of a command that an approval may stand for: two commands with the same prefix are one
 * scope.
 *
 * - `git status -s` gives `git status`, `npm run build -- -x` gives `npm run build`, `ls -la` gives
 *   `ls`.
 * - Any other simple command, and one with an option that hands over control, gives itself, whole.
 * - Whatever is not one simple command gives nothing: operators, pipes, redirections,
 *   assignments, substitutions, variables, comments, parse errors, globs and braces. So does a program that only runs
 *   another (`sudo`, `bash`, `env`, `xargs`), which may stand for anything.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { commandPrefix, loadShellParser } from "@dsh/acp/bash";
 *
 * const parser = await loadShellParser();
 * assertEquals(commandPrefix("git status --short", parser), "git status");
 * assertEquals(commandPrefix("git status; rm x", parser), undefined);
 * ```
 */
export function commandPrefix(command: string, parser: ShellParser): string | undefined {
  const simple = parser.simpleCommand(command);
  const [program, ...args] = simple?.words ?? [];
  if (!program || RUNNERS.test(program.value)) return undefined;
  // What a pattern becomes is not in the command: an option, for one, if a file is called so.
  if (args.some(({ pattern }) => pattern)) return undefined;
  // A quoted or escaped name is no reason to be clever.
  if (program.text !== program.value || program.pattern) return command.trim();
  if (LOOKING.has(program.value)) return program.value;
  return subcommand(program, args) ?? command.trim();
}

/** Programs that run what their arguments say. */
const RUNNERS =
  /(?:^|\/)(?:sudo|doas|su|bash|sh|dash|zsh|ksh|fish|env|xargs|eval|exec|source|\.|command|builtin|nohup|setsid|time|timeout|nice|ionice|stdbuf|watch|parallel|ssh|chroot|unshare|nsenter|bwrap|busybox|script|strace|trap|alias)$/;

function subcommand(program: SimpleWord, args: readonly SimpleWord[]): string | undefined {
  const [verb, target] = args;
  const verbs = own(SUBCOMMANDS, program.value);
  const count = verbs && verb && own(verbs, verb.text);
  if (!verb || !count || !hasPlainOptions(program.value, args)) return undefined;
  if (count === 2) return `${program.value} ${verb.value}`;
  if (!target || !/^\w[\w:./@-]*$/.test(target.text)) return undefined;
  return `${program.value} ${verb.value} ${target.value}`;
}

function hasPlainOptions(program: string, args: readonly SimpleWord[]): boolean {
  if (program === "git") return !args.some(({ value }) => GIT_TELLING.test(value));
  const end = args.findIndex(({ value }) => value === "--");
  const own = end === -1 ? args : args.slice(0, end);
  return own.every(({ value }) => !value.startsWith("-") || PLAIN_OPTION.test(value));
}

function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function words(count: 2 | 3, list: string): Record<string, 2 | 3> {
  return Object.fromEntries(list.split(" ").map((word) => [word, count]));
}
