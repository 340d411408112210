/** The standing instructions of every model request. */

import { type InstructionFile, readProjectInstructions } from "./project_instructions.ts";
import { readSkills, type Skill } from "./skills.ts";

/** What the instructions depend on. */
export interface SystemPromptFacts {
  /** The session's working directory, absolute. */
  readonly cwd: string;
  /** Other folders that belong to the work, absolute. @default none */
  readonly directories?: readonly string[];
  /** What the project says. @default nothing */
  readonly files?: readonly InstructionFile[];
  /** What the project offers. @default nothing */
  readonly skills?: readonly Skill[];
}

/** The instructions of one turn. */
export interface SystemPrompt {
  /** What the model is sent. */
  readonly text: string;
  /** What the user should know of them, the same words for the same instructions. */
  readonly notice?: string;
}

/** Reads what a project says, and writes the instructions. Never rejects. */
export async function readSystemPrompt(
  cwd: string,
  directories: readonly string[] = [],
): Promise<SystemPrompt> {
  const [files, skills] = await Promise.all([readProjectInstructions(cwd), readSkills(cwd)]);
  const read = files.map(({ path, text, leftOut }) =>
    `${path} (${text.length} characters${leftOut > 0 ? `, ${leftOut} left out` : ""})`
  );
  const offered = skills.map(({ name }) => name);
  const notice = [
    ...read.length > 0 ? [`Instructions: ${read.join(", ")}.`] : [],
    ...offered.length > 0 ? [`Skills: ${offered.join(", ")}.`] : [],
  ].join(" ");
  return {
    text: systemPrompt({ cwd, directories, files, skills }),
    ...(notice !== "" && { notice }),
  };
}

/** Writes the instructions. The same facts give the same text, so that providers can cache it. */
export function systemPrompt(
  { cwd, directories = [], files = [], skills = [] }: SystemPromptFacts,
): string {
  return [general(cwd, directories), ...projectPart(files), ...skillPart(skills)].join("\n\n");
}

function projectPart(files: readonly InstructionFile[]): string[] {
  if (files.length === 0) return [];
  const parts = files.map(({ path, text, leftOut }) => {
    const rest = leftOut > 0 ? `\n[${leftOut} characters left out: read the file for them]` : "";
    return `<instructions path=${JSON.stringify(path)}>\n${text}${rest}\n</instructions>`;
  });
  return [
    "The project's instructions. Where they differ, the later ones hold; what the user asks for holds " +
    "over all of them. A folder below may have its own AGENTS.md: read it before you change files " +
    `there.\n\n${parts.join("\n\n")}`,
  ];
}

function skillPart(skills: readonly Skill[]): string[] {
  if (skills.length === 0) return [];
  const lines = skills.map(({ name, description, path }) => `- ${name}: ${description} (${path})`);
  return [
    `Skills of this workspace. When one fits the task, read its file first and follow it.\n\n${
      lines.join("\n")
    }`,
  ];
}

function general(cwd: string, directories: readonly string[]): string {
  const others = directories.length === 0
    ? ""
    : ` These folders belong to the work too: ${directories.join(", ")}.`;
  return `You are a coding agent that works in a developer's editor.

The working directory is ${cwd}. Relative paths are resolved against it.${others}

How to work:
- Look before you change: read the files that matter and follow the conventions you find in them.
- Use the tools to act. Read a file before you edit it. Make the smallest change that does the job.
- A command's result ends in a status line such as "[exit code: 1]" unless it succeeded. Check it
  before you go on, and check your changes by running what the project uses for that.
- When a call is refused, do not try to get around it: say what you need, or find another way.
- Report what you did and what you saw, briefly. Say plainly what does not work.`;
}
