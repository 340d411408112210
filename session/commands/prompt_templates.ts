/** The commands of a workspace: prompts in Markdown files. */
import { join } from "node:path";
import { isInside, realPath } from "../_real_path.ts";
import { takesArguments } from "./expand_template.ts";
import type { SessionCommand } from "./session_command.ts";

/** A prompt that a command stands for. */
export interface PromptTemplate extends SessionCommand {
  /** With places for arguments: `$ARGUMENTS`, `$1` and so on. */
  readonly text: string;
}

/** Where they lie, below the working directory. The first of a name counts. */
const FOLDERS = [".agents/commands", ".claude/commands"];

const MAX_TEMPLATES = 100;
/** A longer file is none. */
const MAX_BYTES = 64_000;
/** How many files and folders are looked at in all. */
const MAX_ENTRIES = 1_000;
/** Folders in folders. */
const MAX_DEPTH = 3;
const MAX_DESCRIPTION = 200;
const MAX_HINT = 100;

/** What a file or folder has to be called: its name is typed. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u;

/**
 * Reads the commands of a workspace, in order of their names; `a/b.md` is `a:b`. Never rejects:
 * what cannot be read is passed over, and so is what a link leads out of the workspace to.
 *
 * @param cwd The working directory, absolute.
 */
export async function readPromptTemplates(cwd: string): Promise<PromptTemplate[]> {
  const root = await realPath(cwd);
  const templates = new Map<string, PromptTemplate>();
  if (root === undefined) return [];
  const bounds = { root, entries: MAX_ENTRIES };
  for (const folder of FOLDERS) {
    for await (const { name, path } of markdownFiles(join(cwd, folder), [], bounds)) {
      if (templates.size === MAX_TEMPLATES) break;
      const template = templates.has(name) ? undefined : await readTemplate(path, name);
      if (template) templates.set(name, template);
    }
  }
  return [...templates.values()].sort((a, b) => a.name < b.name ? -1 : 1);
}

interface Bounds {
  /** What must hold every path, links resolved. */
  readonly root: string;
  /** How many may still be looked at. */
  entries: number;
}

async function* markdownFiles(
  folder: string,
  above: readonly string[],
  bounds: Bounds,
): AsyncGenerator<{ readonly name: string; readonly path: string }> {
  const real = await realPath(folder);
  if (real === undefined || !isInside(real, bounds.root)) return;
  for (const entry of await namesIn(real, bounds)) {
    const path = await realPath(join(real, entry));
    if (path === undefined || !isInside(path, bounds.root)) continue;
    const kind = await kindOf(path);
    if (kind === "folder" && NAME.test(entry) && above.length < MAX_DEPTH) {
      yield* markdownFiles(path, [...above, entry], bounds);
    }
    const name = entry.replace(/\.md$/, "");
    if (kind === "file" && name !== entry && NAME.test(name)) {
      yield { name: [...above, name].join(":"), path };
    }
  }
}

async function namesIn(folder: string, bounds: Bounds): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (bounds.entries-- <= 0) break;
      names.push(name);
    }
  } catch {
    // There is none, or it may not be read.
  }
  return names.sort();
}

async function kindOf(path: string): Promise<"file" | "folder" | "other"> {
  try {
    const { isFile, isDirectory, size } = await Deno.stat(path);
    if (isDirectory) return "folder";
    return isFile && size <= MAX_BYTES ? "file" : "other";
  } catch {
    // It has just gone.
    return "other";
  }
}

async function readTemplate(path: string, name: string): Promise<PromptTemplate | undefined> {
  let file: string;
  try {
    file = await Deno.readTextFile(path);
  } catch {
    // Not to be read, or it has just gone.
    return undefined;
  }
  const [whole = "", header = ""] =
    /^\ufeff?---[ \t]*\r?\n(?:(.*?)\r?\n)?---[ \t]*(?:\r?\n|$)/s.exec(file) ?? [];
  const text = file.slice(whole.length).replace(/^\ufeff/, "").trim();
  if (text === "") return undefined;
  const { description, hint = takesArguments(text) ? "arguments" : undefined } = await readHeader(
    header,
  );
  return {
    name,
    description: oneLine(description ?? firstLine(text), MAX_DESCRIPTION),
    ...(hint !== undefined && { hint: oneLine(hint, MAX_HINT) }),
    text,
  };
}

/** What a header says of its command. */
async function readHeader(header: string): Promise<{ description?: string; hint?: string }> {
  if (header.trim() === "") return {};
  const { parse } = await import("yaml");
  let values: Record<string, unknown> = {};
  try {
    values = Object(parse(header, { maxAliasCount: 0 }));
  } catch {
    // `argument-hint: [a] [b]` is common and no YAML: such a line is taken as it stands.
  }
  const read = (key: string): string | undefined => {
    if (typeof values[key] === "string") return values[key];
    // One pair of brackets is a list to YAML.
    return new RegExp(`^${key}:[ \\t]*(\\S.*)$`, "m").exec(header)?.[1];
  };
  const [description, hint] = [read("description"), read("argument-hint")];
  return {
    ...(description?.trim() && { description }),
    ...(hint?.trim() && { hint }),
  };
}

function firstLine(text: string): string {
  return text.replace(/^[#\s]+/, "").split("\n", 1)[0] || "A prompt of this workspace";
}

function oneLine(text: string, max: number): string {
  return text.replace(/\s+/g, " ").trim().slice(0, max).toWellFormed();
}
