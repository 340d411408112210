import type { AnyMessage, ContentBlock, Stream } from "@agentclientprotocol/sdk";
import { invalidParams } from "./errors.ts";
import { readPrompt } from "./mapper/prompt_content.ts";

interface OpenRequest {
  readonly method: string;
  readonly params: unknown;
}

/**
 * Puts words to the SDK's schema errors on their way out: they name no field, rule or value.
 * The parameters of open requests are kept for that until they are answered.
 */
export function describeErrors(stream: Stream): Stream {
  const open = new Map<unknown, OpenRequest>();
  const readable = stream.readable.pipeThrough(
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        if ("method" in message && "id" in message) {
          open.set(message.id, { method: message.method, params: message.params });
        }
        controller.enqueue(message);
      },
    }),
  );
  const outgoing = stream.writable.getWriter();
  const writable = new WritableStream<AnyMessage>({
    write: (message) => outgoing.write(described(message, open)),
    close: () => outgoing.close(),
    abort: (reason) => outgoing.abort(reason),
  });
  return { readable, writable };
}

function described(message: AnyMessage, open: Map<unknown, OpenRequest>): AnyMessage {
  if ("method" in message || !("id" in message)) return message;
  const request = open.get(message.id);
  open.delete(message.id);
  if (!request || !("error" in message) || message.error.code !== -32602) return message;
  const issue = promptIssue(request) ?? schemaIssue(message.error.data, request.params);
  if (!issue) return message;
  const { code, message: text } = invalidParams(issue.field, issue.rule, issue.value);
  return { ...message, error: { code, message: text } };
}

interface Issue {
  readonly field: string;
  readonly rule: string;
  readonly value: unknown;
}

/** For a block of an unknown type the schema complains of a field of some other type. */
function promptIssue({ method, params }: OpenRequest): Issue | undefined {
  const { prompt } = (params ?? {}) as { prompt?: unknown };
  const blocks = Array.isArray(prompt) && prompt.every((block) => typeof block?.type === "string");
  if (method !== "session/prompt" || !blocks) return undefined;
  const reading = readPrompt(prompt as ContentBlock[]);
  return reading.ok || !reading.field.endsWith(".type") ? undefined : reading;
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
