/** Reads commands with a real shell parser, for display and for approval scopes; never to run them. */
import type { Command, ParsedScript, Word, WordPart } from "unbash";

/** A command that is nothing but one program with arguments that are what they say. */
export interface SimpleCommand {
  /** The program and its arguments, unquoted. */
  readonly words: readonly SimpleWord[];
}

/** One word of a {@linkcode SimpleCommand}. */
export interface SimpleWord {
  /** What the program receives, unless the word is a pattern. */
  readonly value: string;
  /** As it stands in the command. */
  readonly text: string;
  /** Whether the shell would replace the word by file names (`*.ts`, `{a,b}`, `~/x`). */
  readonly pattern: boolean;
}

/** Takes commands apart. */
export interface ShellParser {
  /**
   * The command, if it is a simple one: no operators, redirections, assignments, substitutions,
   * expansions of variables, comments, or anything that does not parse.
   */
  simpleCommand(command: string): SimpleCommand | undefined;
}

/**
 * Loads the parser. It is not on the path of program start: a session's tools load it when they
 * are made.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { loadShellParser } from "@dsh/acp/bash";
 *
 * const parser = await loadShellParser();
 * const values = parser.simpleCommand("cat 'my file'")?.words.map((word) => word.value);
 * assertEquals(values, ["cat", "my file"]);
 * assertEquals(parser.simpleCommand("cat a; rm b"), undefined);
 * ```
 */
export async function loadShellParser(): Promise<ShellParser> {
  const { parse } = await import("unbash");
  return { simpleCommand: (command) => simpleCommand(command, parse) };
}

function simpleCommand(
  source: string,
  parse: (source: string) => ParsedScript,
): SimpleCommand | undefined {
  const command = onlyCommand(source, parse);
  if (!command?.name || command.prefix.length > 0) return undefined;
  const words: Word[] = [command.name];
  for (const part of command.suffix) {
    if (part.type !== "Word") return undefined;
    words.push(part);
  }
  // The parser is tolerant: what no word accounts for was left out, or is an operator.
  let at = 0;
  for (const word of words) {
    if (source.slice(at, word.pos).trim() !== "") return undefined;
    if (source.slice(word.pos, word.end) !== word.text) return undefined;
    at = word.end;
  }
  if (source.slice(at).trim() !== "") return undefined;
  const simple: SimpleWord[] = [];
  for (const word of words) {
    const kind = kindOf(word);
    if (kind === "expanded") return undefined;
    simple.push({ value: word.value, text: word.text, pattern: kind === "pattern" });
  }
  return { words: simple };
}

function onlyCommand(
  source: string,
  parse: (source: string) => ParsedScript,
): Command | undefined {
  const script = parse(source);
  const [statement, ...more] = script.commands;
  if (!statement || more.length > 0 || script.errors?.length) return undefined;
  if (statement.background || statement.command.type !== "Command") return undefined;
  return statement.command;
}

type WordKind = "literal" | "pattern" | "expanded";

function kindOf(word: Word): WordKind {
  const kinds = (word.parts ?? []).map(kindOfPart);
  if (kinds.includes("expanded")) return "expanded";
  if (kinds.includes("pattern") || word.text.startsWith("~")) return "pattern";
  return "literal";
}

function kindOfPart(part: WordPart): WordKind {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return "literal";
    case "DoubleQuoted":
      return part.parts.every((inner) => inner.type === "Literal") ? "literal" : "expanded";
    case "Glob":
    case "ExtendedGlob":
      return part.parts?.some((inner) => kindOfPart(inner) === "expanded") ? "expanded" : "pattern";
    case "BraceExpansion":
      return part.parts?.some((inner) => kindOfPart(inner) === "expanded") ? "expanded" : "pattern";
    case "LocaleString":
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
      return "expanded";
    default: {
      const never: never = part;
      return never;
    }
  }
}
