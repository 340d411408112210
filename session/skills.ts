/** The skills of a workspace: instructions for a kind of task, read when the task comes up. */
import { join } from "node:path";

/** One skill, as its SKILL.md names itself (https://agentskills.io). */
export interface Skill {
  readonly name: string;
  /** When to use it. */
  readonly description: string;
  /** Of the SKILL.md, absolute. */
  readonly path: string;
}

/** Where skills lie, below the working directory. The first of a name counts. */
const FOLDERS = [".agents/skills", ".claude/skills"];

const MAX_SKILLS = 50;
const MAX_DESCRIPTION = 1_024;
const MAX_NAME = 64;
/** The header stands at the start. */
const MAX_BYTES = 256_000;

/** Lists the skills of a workspace by name. Never rejects: what cannot be read is passed over. */
export async function readSkills(cwd: string): Promise<Skill[]> {
  const skills = new Map<string, Skill>();
  for (const folder of FOLDERS.map((path) => join(cwd, path))) {
    for (const name of await foldersIn(folder)) {
      const skill = await readSkill(join(folder, name, "SKILL.md"), name);
      if (skill && !skills.has(skill.name)) skills.set(skill.name, skill);
    }
  }
  return [...skills.values()].sort((a, b) => a.name < b.name ? -1 : 1).slice(0, MAX_SKILLS);
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(folder));
    return entries.filter(({ isFile }) => !isFile).map(({ name }) => name).sort();
  } catch {
    // There is none.
    return [];
  }
}

async function readSkill(path: string, folder: string): Promise<Skill | undefined> {
  let text: string;
  try {
    const info = await Deno.stat(path);
    if (!info.isFile || info.size > MAX_BYTES) return undefined;
    text = await Deno.readTextFile(path);
  } catch {
    // A folder without one, or not to be read.
    return undefined;
  }
  const header = /^---\r?\n(.*?)\r?\n---/s.exec(text)?.[1];
  if (header === undefined) return undefined;
  const { name = folder, description } = await parseHeader(header);
  if (description === undefined) return undefined;
  return {
    name: oneLine(name, MAX_NAME),
    description: oneLine(description, MAX_DESCRIPTION),
    path,
  };
}

/** What a header says, as far as it is text; nothing where it is no YAML. */
async function parseHeader(header: string): Promise<{ name?: string; description?: string }> {
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    value = parse(header, { maxAliasCount: 0 });
  } catch {
    // A skill that does not say what it is for cannot be offered.
    return {};
  }
  if (typeof value !== "object" || value === null) return {};
  const { name, description } = value as Record<string, unknown>;
  return {
    ...(typeof name === "string" && { name }),
    ...(typeof description === "string" && { description }),
  };
}

function oneLine(text: string, max: number): string {
  return text.replace(/\s+/g, " ").trim().slice(0, max).toWellFormed();
}
