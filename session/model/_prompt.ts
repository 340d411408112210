/** Our conversation in the words of the AI SDK's language model specification, version 4. */
import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { JsonObject, ToolContent, ToolDefinition } from "../../tools/mod.ts";
import type { AssistantPart } from "../events.ts";
import { type OwnMetadata, ownMetadata } from "./_own_metadata.ts";
import type { ModelMessage, ModelRequest, ModelToolResult } from "./model.ts";

/** What differs between the protocols. */
export interface Dialect {
  readonly id: "deepseek" | "openai" | "anthropic";
  /**
   * Where images that a tool returned go: into its result, into a user message after it, or
   * nowhere, since the model cannot see.
   */
  readonly toolImages: "result" | "user_message" | "omit";
  /** Whether the user's messages may hold images. */
  readonly userImages: boolean;
}

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
type ToolResultContent = Extract<LanguageModelV4ToolResultOutput, { type: "content" }>["value"];
type UserContent = Extract<LanguageModelV4Message, { role: "user" }>["content"];

/** The prompt of a request. */
export function promptOf(request: ModelRequest, dialect: Dialect): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system });
  const usedTools = messagesOfToolTurns(request.messages);
  for (const message of request.messages) {
    switch (message.role) {
      case "user":
        prompt.push({ role: "user", content: userContent(message, dialect) });
        break;
      case "assistant":
        prompt.push(assistantMessage(message.parts, usedTools.has(message), dialect));
        break;
      case "tool":
        prompt.push(...toolMessages(message.results, dialect));
        break;
      default: {
        const never: never = message;
        throw new TypeError(`Cannot send an unknown message: ${JSON.stringify(never)}`);
      }
    }
  }
  return dialect.id === "anthropic" ? withCacheMarks(prompt) : prompt;
}

/** The tools of a request. */
export function functionTools(
  definitions: readonly ToolDefinition[],
): LanguageModelV4FunctionTool[] {
  return definitions.map(({ name, description, inputSchema }) => {
    // Some servers refuse the dialect declaration.
    const { $schema: _, ...schema } = inputSchema;
    return {
      type: "function",
      name,
      description,
      inputSchema: schema as LanguageModelV4FunctionTool["inputSchema"],
    };
  });
}

/**
 * The assistant messages of the turns in which a tool was called. DeepSeek wants the reasoning of
 * all of them back, and answers 400 without; of other turns no provider needs it.
 */
function messagesOfToolTurns(messages: readonly ModelMessage[]): ReadonlySet<ModelMessage> {
  const found = new Set<ModelMessage>();
  let turn: ModelMessage[] = [];
  const close = () => {
    if (turn.some((message) => message.role === "tool")) turn.forEach((item) => found.add(item));
    turn = [];
  };
  for (const message of messages) {
    if (message.role === "user") close();
    else turn.push(message);
  }
  close();
  return found;
}

/** A conversation may have begun with a model that takes images and go on with one that does not. */
function userContent(
  { text, images = [] }: Extract<ModelMessage, { role: "user" }>,
  { userImages }: Dialect,
): UserContent {
  if (images.length === 0) return [{ type: "text", text }];
  if (userImages) return [{ type: "text", text }, ...images.map(imageFile)];
  const note = "[The images are left out, since this model takes none.]";
  return [{ type: "text", text: `${text}\n${note}` }];
}

function assistantMessage(
  parts: readonly AssistantPart[],
  withReasoning: boolean,
  dialect: Dialect,
): LanguageModelV4Message {
  const content: AssistantContent = [];
  const own = ownMetadata(parts);
  let reasoning = "";
  for (const part of parts) {
    switch (part.type) {
      case "text":
        // Blank text blocks are refused by some providers.
        if (part.text.trim() !== "") content.push({ type: "text", text: part.text });
        break;
      case "reasoning":
        if (!withReasoning) break;
        if (dialect.id === "openai" && own.reasoningField === "reasoning") reasoning += part.text;
        else content.push(reasoningPart(part));
        break;
      case "tool_call":
        content.push({
          type: "tool-call",
          toolCallId: callId(part.callId, dialect),
          toolName: toolName(part.name),
          input: callInput(part.arguments, dialect),
          ...callOptions(part.callId, own, dialect),
        });
        break;
      default: {
        const never: never = part;
        throw new TypeError(`Cannot send an unknown part: ${JSON.stringify(never)}`);
      }
    }
  }
  if (!content.some((part) => part.type === "text" || part.type === "tool-call")) {
    content.push({ type: "text", text: "(no answer)" });
  }
  return {
    role: "assistant",
    content,
    ...(reasoning !== "" && { providerOptions: { openaiCompatible: { reasoning } } }),
  };
}

function reasoningPart(
  { text, metadata }: Extract<AssistantPart, { type: "reasoning" }>,
): AssistantContent[number] {
  return {
    type: "reasoning",
    text,
    ...(metadata && { providerOptions: metadata as SharedV4ProviderOptions }),
  };
}

function callOptions(
  id: string,
  own: OwnMetadata,
  dialect: Dialect,
): { providerOptions?: SharedV4ProviderOptions } {
  const options = dialect.id === "openai" ? own.toolCalls?.[id] : undefined;
  return options === undefined ? {} : { providerOptions: options as SharedV4ProviderOptions };
}

/**
 * The package for OpenAI-compatible servers sends a text as it is, which keeps the server's prompt
 * cache valid; the others want the value. What is no object is wrapped: servers refuse it.
 */
function callInput(text: string, dialect: Dialect): unknown {
  const value = parseObject(text === "" ? "{}" : text);
  if (value === undefined) return { invalid_arguments: text };
  return dialect.id === "openai" && text !== "" ? text : value;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? value as JsonObject : undefined;
  } catch {
    // The model wrote no JSON: the caller sends it wrapped.
    return undefined;
  }
}

/** Anthropic refuses ids that another provider may have made. */
function callId(id: string, dialect: Dialect): string {
  return dialect.id === "anthropic" ? id.replace(/[^\w-]/g, "_") : id;
}

/** A name the model made up may break the rule that providers hold names in a prompt to. */
function toolName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "unknown";
}

function toolMessages(
  results: readonly ModelToolResult[],
  dialect: Dialect,
): LanguageModelV4Message[] {
  const content = results.map((result): LanguageModelV4ToolResultPart => ({
    type: "tool-result",
    toolCallId: callId(result.callId, dialect),
    toolName: toolName(result.name),
    output: toolOutput(result, dialect),
  }));
  const message: LanguageModelV4Message = { role: "tool", content };
  if (dialect.toolImages !== "user_message") return [message];
  const images = results.flatMap(imagesForUser);
  return images.length === 0 ? [message] : [message, { role: "user", content: images }];
}

function toolOutput(result: ModelToolResult, dialect: Dialect): LanguageModelV4ToolResultOutput {
  const inline = dialect.toolImages === "result" && !result.isError;
  if (inline && result.content.some((item) => item.type === "image")) {
    return { type: "content", value: result.content.map(contentItem) };
  }
  const value = result.content.map((item) => textFor(item, dialect)).join("\n") || "(no output)";
  return { type: result.isError ? "error-text" : "text", value };
}

function textFor(item: ToolContent, dialect: Dialect): string {
  if (item.type === "text") return item.text;
  return dialect.toolImages === "user_message"
    ? `[${item.mimeType}: see the next message]`
    : `[${item.mimeType}: left out, since this model takes no image here]`;
}

function contentItem(item: ToolContent): ToolResultContent[number] {
  return item.type === "text" ? { type: "text", text: item.text } : imageFile(item);
}

function imagesForUser(result: ModelToolResult): UserContent {
  const images = result.content.filter((item) => item.type === "image");
  if (images.length === 0) return [];
  const text = `The image that ${result.name} returned (call ${result.callId}):`;
  return [{ type: "text", text }, ...images.map(imageFile)];
}

function imageFile(
  { data, mimeType }: Extract<ToolContent, { type: "image" }>,
): { type: "file"; data: { type: "data"; data: string }; mediaType: string } {
  return { type: "file", data: { type: "data", data }, mediaType: mimeType };
}

/** Anthropic caches a prompt up to a mark: the constant start, and the conversation so far. */
function withCacheMarks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
  return prompt.map((message, index) => {
    const marked = message.role === "system" || index === prompt.length - 1;
    return marked ? { ...message, providerOptions } : message;
  });
}
