import { isAbsolute, join } from "node:path";
import type { FileLocation, GenericCallView } from "../tools/presentation.ts";
import type { ShellParser, SimpleWord } from "./shell_parser.ts";

/** How a command looks: as what it does, or as the command in a terminal. */
export type CommandView = GenericCallView | { readonly type: "terminal" };

/** Options for {@linkcode classifyCommand}. */
export interface ClassifyOptions {
  /** Takes the command apart. */
  readonly parser: ShellParser;
  /** Where the command runs, if that is not the session's folder: relative paths count from it. */
  readonly workdir?: string;
}

const TERMINAL: CommandView = { type: "terminal" };

/**
 * Tells how to show a command. Reading a file and searching look like what they are; everything
 * else, and everything compound, redirected, expanded or unparsable, is a command in a terminal.
 *
 * For display only: what runs is the command as it stands.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { classifyCommand, loadShellParser } from "@dsh/acp/bash";
 *
 * const parser = await loadShellParser();
 * assertEquals(classifyCommand("sed -n '5,9p' mod.ts", { parser }), {
 *   type: "generic",
 *   kind: "read",
 *   title: "Read mod.ts (5 - 9)",
 *   rawInput: { command: "sed -n '5,9p' mod.ts" },
 *   locations: [{ path: "mod.ts", line: 5 }],
 * });
 * assertEquals(classifyCommand("cat a > b", { parser }), { type: "terminal" });
 * ```
 */
export function classifyCommand(command: string, options: ClassifyOptions): CommandView {
  const simple = options.parser.simpleCommand(command);
  if (!simple || /[\r\n]/.test(command.trim())) return TERMINAL;
  const [program, ...args] = simple.words;
  switch (program?.text) {
    case "cat":
      return readCard(command, fileArguments(args, /^-[AbeEnstTuv]+$/), options);
    case "head":
    case "tail":
      return readCard(
        command,
        fileArguments(mergeCounts(args), /^-(?:[nc][+-]?\d+|\d+|[qv])$/),
        options,
      );
    case "sed":
      return sedCard(command, args, options);
    case "grep":
    case "egrep":
    case "fgrep":
    case "ls":
      return searchCard(command);
    case "rg":
      return args.some(runsProgram) ? TERMINAL : searchCard(command);
    case "find":
      return args.some(acts) ? TERMINAL : searchCard(command);
    default:
      return TERMINAL;
  }
}

/** `-n 20` as one word. */
function mergeCounts(args: readonly SimpleWord[]): SimpleWord[] {
  const merged: SimpleWord[] = [];
  for (let index = 0; index < args.length; index++) {
    const [word, count] = [args[index]!, args[index + 1]];
    const isCount = /^-[nc]$/.test(word.value) && count && /^[+-]?\d+$/.test(count.value);
    merged.push(isCount ? { ...word, value: word.value + count.value } : word);
    if (isCount) index++;
  }
  return merged;
}

/** The files, if all else are options known to change nothing but the looks. */
function fileArguments(args: readonly SimpleWord[], options: RegExp): string[] | undefined {
  const files: string[] = [];
  for (const { value, pattern } of args) {
    if (pattern || value === "" || value === "-") return undefined;
    if (!value.startsWith("-")) files.push(value);
    else if (!options.test(value)) return undefined;
  }
  return files.length > 0 ? files : undefined;
}

/** `sed -n '1,20p' file`: one script that prints lines, nothing else. */
function sedCard(
  command: string,
  args: readonly SimpleWord[],
  options: ClassifyOptions,
): CommandView {
  const [quiet, script, ...rest] = args;
  const range = /^(\d+)(?:,(\d+|\$))?p$/.exec(script?.value ?? "");
  if (quiet?.value !== "-n" || !range) return TERMINAL;
  const [, from = "1", to = from] = range;
  const files = fileArguments(rest, /^$/);
  const label = to === "$" ? `from line ${from}` : `${from} - ${to}`;
  return readCard(command, files, options, { line: Number(from), label });
}

function readCard(
  command: string,
  files: readonly string[] | undefined,
  options: ClassifyOptions,
  part?: { line: number; label: string },
): CommandView {
  if (!files) return TERMINAL;
  const locations: FileLocation[] = files.map((file) => ({
    path: inWorkdir(file, options.workdir),
    ...(part && part.line > 0 && { line: part.line }),
  }));
  const suffix = part ? ` (${part.label})` : "";
  return {
    type: "generic",
    kind: "read",
    title: `Read ${locations.map(({ path }) => path).join(", ")}${suffix}`,
    rawInput: { command },
    locations,
  };
}

function searchCard(command: string): CommandView {
  return { type: "generic", kind: "search", title: command.trim(), rawInput: { command } };
}

function inWorkdir(path: string, workdir: string | undefined): string {
  return workdir === undefined || isAbsolute(path) ? path : join(workdir, path);
}

/** Options of `rg` that run a program per file. */
function runsProgram({ value }: SimpleWord): boolean {
  return /^--(?:pre|hostname-bin)(?:=|$)/.test(value);
}

/** Actions of `find` that do more than print. */
function acts({ value }: SimpleWord): boolean {
  return /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$/.test(value);
}
