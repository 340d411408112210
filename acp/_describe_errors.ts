import type { AnyMessage, ContentBlock } from "@agentclientprotocol/sdk";
import { invalidParams } from "./errors.ts";
import { readPrompt } from "./mapper/prompt_content.ts";

/** What a request asked for. */
export interface RequestFacts {
  readonly method: string;
  readonly params: unknown;
}

/**
 * Puts words to the SDK's schema errors on their way out: they name no field, rule or value.
 * Any other answer stays as it is.
 */
export function describedAnswer(answer: AnyMessage, request: RequestFacts): AnyMessage {
  if (!("error" in answer) || answer.error.code !== -32602) return answer;
  // A refusal of the agent's own has its words.
  if (answer.error.data === undefined) return answer;
  const issue = promptIssue(request) ?? serverIssue(request) ??
    schemaIssue(answer.error.data, request.params);
  if (!issue) return answer;
  const { code, message } = invalidParams(issue.field, issue.rule, issue.value);
  return { ...answer, error: { code, message } };
}

interface Issue {
  readonly field: string;
  readonly rule: string;
  readonly value: unknown;
}

/** For a block of an unknown type the schema complains of a field of some other type. */
function promptIssue({ method, params }: RequestFacts): Issue | undefined {
  const { prompt } = (params ?? {}) as { prompt?: unknown };
  const blocks = Array.isArray(prompt) && prompt.every((block) => typeof block?.type === "string");
  if (method !== "session/prompt" || !blocks) return undefined;
  const reading = readPrompt(prompt as ContentBlock[], { images: true });
  return reading.ok || !reading.field.endsWith(".type") ? undefined : reading;
}

/** For an MCP server of an unknown type the schema complains of a field that some other type has. */
function serverIssue({ params }: RequestFacts): Issue | undefined {
  const { mcpServers } = (params ?? {}) as { mcpServers?: unknown };
  if (!Array.isArray(mcpServers)) return undefined;
  const index = mcpServers.findIndex((server) =>
    typeof server?.type === "string" && !/^(?:http|sse|stdio)$/.test(server.type)
  );
  if (index === -1) return undefined;
  const rule = 'must be "http" or "sse", or absent for a program';
  return { field: `mcpServers.${index}.type`, rule, value: mcpServers[index].type };
}

function schemaIssue(data: unknown, params: unknown): Issue | undefined {
  const issue = firstIssue(data, []);
  if (!issue) return undefined;
  const value = issue.path.reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | undefined | null)?.[key],
    params,
  );
  return { field: issue.path.join(".") || "params", rule: `is invalid (${issue.rule})`, value };
}

/** The first message in zod's tree of errors: `_errors` beside one member for each field. */
function firstIssue(
  tree: unknown,
  path: readonly string[],
): { path: readonly string[]; rule: string } | undefined {
  if (typeof tree !== "object" || tree === null) return undefined;
  for (const [key, branch] of Object.entries(tree)) {
    if (key === "_errors") continue;
    const found = firstIssue(branch, [...path, key]);
    if (found) return found;
  }
  const [rule] = (tree as { _errors?: unknown[] })._errors ?? [];
  return typeof rule === "string" ? { path, rule } : undefined;
}
