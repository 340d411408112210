/** The tools of a server, as far as they can be used: a server is not trusted to be sensible. */
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { z } from "zod";
import { type JsonObject, wellFormedJson } from "../json.ts";
import { printable } from "./printable.ts";
import { schemaProblem } from "./schema_problem.ts";

/** A tool as its server describes it. */
export interface ServerTool {
  /** What the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Whether the server says that it changes nothing. */
  readonly readOnly: boolean;
}

/** What a server offers. */
export interface ToolListing {
  readonly tools: readonly ServerTool[];
  /** Whether there are others, which were not read. */
  readonly more: boolean;
  /** What the user should know: what was left out, and why. */
  readonly problems: readonly string[];
}

/**
 * How many tools the servers of a session may have together. Chat completions APIs take 128 in a
 * request, of which some are the program's own.
 */
export const MOST_TOOLS = 112;

/** How many answers are read for one listing: a server may send empty ones for ever. */
const MOST_PAGES = 64;

/** The longest name that the protocol allows. */
const LONGEST_NAME = 128;

/** How much of a description goes to the model, in UTF-16 code units. */
const LONGEST_DESCRIPTION = 4_000;

/** How many of the tools that are left out are named. */
const MOST_NAMED = 3;

// One bad tool must not cost the others, so each is looked at by itself.
const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const described = z.looseObject({
  name: z.string().min(1).max(LONGEST_NAME),
  description: z.string().optional().catch(undefined),
  title: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
  annotations: z.looseObject({ readOnlyHint: z.boolean().optional() }).optional().catch(undefined),
});

/** Lists them. Rejects where the server does not answer with a list. */
export async function listTools(
  client: Pick<Client, "request">,
  options: RequestOptions,
): Promise<ToolListing> {
  const tools = new Map<string, ServerTool>();
  const leftOut: string[] = [];
  let cursor: string | undefined;
  let more = false;
  for (let pages = 0; pages < MOST_PAGES && !more; pages++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, page, options);
    for (const one of answer.tools) {
      more = tools.size >= MOST_TOOLS;
      if (more) break;
      const tool = read(one);
      if (typeof tool === "string") leftOut.push(tool);
      else if (tools.has(tool.name)) leftOut.push(refusal(tool.name, "it is listed twice"));
      else tools.set(tool.name, tool);
    }
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return {
    tools: [...tools.values()],
    more: more || cursor !== undefined,
    problems: problems(leftOut),
  };
}

/** The tool, or why it cannot be used. */
function read(one: unknown): ServerTool | string {
  const result = described.safeParse(one);
  if (!result.success) {
    return `a tool was left out: its name is not of 1 to ${LONGEST_NAME} characters`;
  }
  const { name, description, title, inputSchema, annotations } = result.data;
  const problem = schemaProblem(inputSchema);
  if (problem !== undefined) return refusal(name, problem);
  const text = description ?? title ?? name;
  return {
    name,
    description: text.length > LONGEST_DESCRIPTION
      ? `${text.slice(0, LONGEST_DESCRIPTION).toWellFormed()}…`
      : text.toWellFormed(),
    // Some providers refuse an object that does not list its properties.
    inputSchema: {
      properties: {},
      ...JSON.parse(wellFormedJson(JSON.stringify(inputSchema))),
    },
    readOnly: annotations?.readOnlyHint === true,
  };
}

function refusal(name: string, reason: string): string {
  return `its tool "${printable(name)}" was left out: ${reason}`;
}

function problems(leftOut: readonly string[]): string[] {
  const texts = leftOut.slice(0, MOST_NAMED);
  const rest = leftOut.length - texts.length;
  if (rest > 0) texts.push(`${rest} more of its tools were left out`);
  return texts;
}
