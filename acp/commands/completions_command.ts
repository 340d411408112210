/** `completions`: prints a script that completes commands and options in a shell. */
import {
  ANSWERED,
  type CommandFacts,
  COMMANDS as COMMAND_TABLE,
  type OptionFacts,
  OPTIONS as OPTION_TABLE,
} from "../_command_line.ts";

const COMMANDS: readonly (readonly [string, CommandFacts])[] = Object.entries(COMMAND_TABLE);
const OPTIONS: readonly (readonly [string, OptionFacts])[] = [
  ...Object.entries<OptionFacts>(OPTION_TABLE),
  ...Object.entries(ANSWERED),
];
const NAMES = COMMANDS.map(([name]) => name);

const SCRIPTS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** `completions bash|zsh|fish`. Resolves with the exit code. */
export function completionsCommand(
  args: readonly string[],
  { print, complain }: {
    readonly print: (text: string) => void;
    readonly complain: (message: string) => void;
  },
): number {
  const [shell = "", ...rest] = args;
  if (!Object.hasOwn(SCRIPTS, shell) || rest.length > 0) {
    complain(
      `completions takes one of ${Object.keys(SCRIPTS).join(", ")}; got "${args.join(" ")}"`,
    );
    return 2;
  }
  print(SCRIPTS[shell]!());
  return 0;
}

function bash(): string {
  const own = COMMANDS.flatMap(([, { options }]) => Object.entries(options ?? {}));
  const values = [...OPTIONS, ...own].filter(([, { value }]) => value !== undefined)
    .map(([name, { choices, path }]) => {
      const reply = path
        ? "_dsh_acp_files"
        : choices
        ? `COMPREPLY=($(compgen -W ${quote(choices.join(" "))} -- "$cur"))`
        : ":";
      return `    ${name}) ${reply}; return ;;`;
    });
  const shared = OPTIONS.map(([name]) => name);
  const words = COMMANDS.map(([name, { choices = [], options = {}, path }]) => {
    const list = quote([...choices, ...Object.keys(options), ...shared].join(" "));
    return `    ${name}) words=${list}${path ? "; files=1" : ""} ;;`;
  });
  // In the words of bash 3.2, which is what macOS has.
  return `# bash completion for dsh-acp
_dsh_acp_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$cur"))
}
_dsh_acp() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}"
  local word command="" words files=""
  COMPREPLY=()
  case "$prev" in
${values.join("\n")}
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "$word" in ${NAMES.join("|")}) command="$word"; break ;; esac
  done
  case "$command" in
    "") words=${quote([...NAMES, ...shared].join(" "))} ;;
${words.join("\n")}
  esac
  if [ -n "$files" ] && [ "\${cur#-}" = "$cur" ]; then
    _dsh_acp_files
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _dsh_acp dsh-acp
`;
}

function zsh(): string {
  const spec = ([name, { value, choices, path, summary }]: readonly [string, OptionFacts]) => {
    const action = choices ? `(${choices.join(" ")})` : path ? "_files" : " ";
    const text = summary.replaceAll(/[[\]:]/g, "\\$&");
    return quote(`${name}[${text}]${value === undefined ? "" : `:${value}:${action}`}`);
  };
  const shared = OPTIONS.map(spec).join(" ");
  const described = COMMANDS.map(([name, { summary }]) =>
    `    ${quote(`${name}:${summary.replaceAll(":", "\\:")}`)}`
  );
  const cases = COMMANDS.map(([name, { choices, options = {}, path }]) => {
    const argument = choices ? `(${choices.join(" ")})` : path ? "_files" : undefined;
    const specs = [
      ...Object.entries(options).map(spec),
      ...argument === undefined ? [] : [quote(`1:argument:${argument}`)],
    ];
    return `        ${name}) _arguments ${[...specs, "$shared"].join(" ")} ;;`;
  });
  return `#compdef dsh-acp
_dsh_acp() {
  local curcontext="$curcontext" state line
  local -a commands shared
  shared=(${shared})
  commands=(
${described.join("\n")}
  )
  _arguments -C $shared '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
${cases.join("\n")}
      esac ;;
  esac
}
if [ "$funcstack[1]" = _dsh_acp ]; then _dsh_acp "$@"; else compdef _dsh_acp dsh-acp; fi
`;
}

function fish(): string {
  const option = (
    when: string,
    [name, { value, choices, path, summary }]: readonly [string, OptionFacts],
  ) => {
    const kind = value === undefined ? "" : path ? " -r -F" : " -x";
    const list = choices ? ` -a ${quote(choices.join(" "))}` : "";
    return `complete -c dsh-acp${when} -l ${name.slice(2)}${kind}${list} -d ${quote(summary)}`;
  };
  const lines = OPTIONS.map((one) => option("", one));
  const none = ` -n ${quote(`not __fish_seen_subcommand_from ${NAMES.join(" ")}`)}`;
  for (const [name, { summary, choices, path, options = {} }] of COMMANDS) {
    const when = ` -n ${quote(`__fish_seen_subcommand_from ${name}`)}`;
    lines.push(`complete -c dsh-acp${none} -a ${name} -d ${quote(summary)}`);
    if (choices) lines.push(`complete -c dsh-acp${when} -a ${quote(choices.join(" "))}`);
    if (path) lines.push(`complete -c dsh-acp${when} -F`);
    for (const one of Object.entries(options)) lines.push(option(when, one));
  }
  return `# fish completion for dsh-acp\ncomplete -c dsh-acp -f\n${lines.join("\n")}\n`;
}

/** For all three shells: none of the table's words has a quote in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "")}'`;
}
