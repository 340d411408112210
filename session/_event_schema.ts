/** Validation of events, on the way into the log and on the way out. */
import { z } from "zod";
import { type EventType, SCHEMA_VERSION, type SessionEvent, type SessionHeader } from "./events.ts";

type DataSchemas = { readonly [Type in EventType]: z.ZodType };

interface Schemas {
  readonly data: DataSchemas;
  readonly envelope: z.ZodType<{ type: string; data?: unknown }>;
  readonly header: z.ZodType<SessionHeader>;
}

let built: Schemas | undefined;

/** Built at the first event: the schemas would cost milliseconds on the start path. */
function schemas(): Schemas {
  return built ??= buildSchemas();
}

function buildSchemas(): Schemas {
  const content = z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("image"), data: z.string(), mimeType: z.string() }),
  ]);

  const json = z.record(z.string(), z.json());

  const part = z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("reasoning"), text: z.string(), metadata: json.optional() }),
    z.object({
      type: z.literal("tool_call"),
      callId: z.string().min(1),
      name: z.string(),
      arguments: z.string(),
    }),
  ]);

  const prompt = z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({
      type: z.literal("resource_link"),
      uri: z.string(),
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      mimeType: z.string().optional(),
      size: z.number().optional(),
    }),
    z.object({
      type: z.literal("image"),
      data: z.string(),
      mimeType: z.string(),
      uri: z.string().optional(),
    }),
    z.object({
      type: z.literal("resource_text"),
      uri: z.string(),
      mimeType: z.string().optional(),
      text: z.string(),
    }),
    z.object({
      type: z.literal("resource_blob"),
      uri: z.string(),
      mimeType: z.string().optional(),
      blob: z.string(),
    }),
  ]);

  const count = z.int().nonnegative();
  const ordinal = z.int().positive();

  const errorCode = z.enum([
    "no_model",
    "auth",
    "quota",
    "rate_limit",
    "context_window",
    "invalid_request",
    "server",
    "timeout",
    "transport",
    "malformed_response",
    "internal",
  ]);

  const turnEnd = z.union([
    z.object({
      type: z.enum([
        "completed",
        "max_tokens",
        "max_steps",
        "content_filter",
        "aborted",
        "disposed",
        "rejected",
        "interrupted",
      ]),
    }),
    z.object({ type: z.literal("error"), code: errorCode, message: z.string() }),
  ]);

  const usage = z.object({
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count.optional(),
    cacheWriteInputTokens: count.optional(),
    reasoningTokens: count.optional(),
  });

  const scope = z.object({ key: z.string().min(1), label: z.string().min(1) });

  /** One schema for each type: the compiler refuses a table that misses one. */
  const data: DataSchemas = {
    "turn/start": z.object({ turn: ordinal, trigger: z.enum(["prompt", "command"]) }),
    "turn/end": z.object({ turn: ordinal, reason: turnEnd }),
    "step/start": z.object({ step: ordinal }),
    "step/end": z.object({
      step: ordinal,
      usage: usage.optional(),
      contextWindow: ordinal.optional(),
      cost: z.object({ amount: z.number().nonnegative(), currency: z.string().min(1) }).optional(),
    }),
    "user/message": z.object({
      content: z.array(prompt).min(1),
      expanded: z.array(prompt).optional(),
    }),
    "assistant/message": z.object({
      parts: z.array(part),
      model: z.string(),
      interrupted: z.boolean().optional(),
    }),
    "tool/call": z.object({
      callId: z.string().min(1),
      name: z.string(),
      arguments: z.string(),
      awaitsApproval: z.boolean().optional(),
    }),
    "tool/result": z.object({
      callId: z.string().min(1),
      content: z.array(content),
      isError: z.boolean(),
      outcome: z.enum(["finished", "not_started", "unknown"]),
      meta: json.optional(),
    }),
    "approval/asked": z.object({
      callId: z.string().min(1),
      reason: z.string(),
      scope: scope.optional(),
    }),
    "approval/decided": z.object({
      callId: z.string().min(1),
      decision: z.enum(["allowed_once", "allowed_always", "rejected", "cancelled", "unavailable"]),
      scope: scope.optional(),
    }),
    "permission/preset": z.object({ preset: z.string().min(1) }),
    "sandbox/mode": z.object({
      mode: z.enum(["read-only", "workspace-write", "danger-full-access"]),
    }),
    "approval/policy": z.object({ policy: z.enum(["ask", "never"]) }),
    "model/selected": z.object({
      provider: z.string().min(1),
      model: z.string().min(1),
      reasoningEffort: z.string().optional(),
    }),
    "session/title": z.object({ title: z.string() }),
    "session/notice": z.object({ text: z.string() }),
    "todo/write": z.object({
      entries: z.array(z.object({
        content: z.string(),
        priority: z.enum(["high", "medium", "low"]),
        status: z.enum(["pending", "in_progress", "completed"]),
      })),
    }),
    "compact/start": z.object({ trigger: z.enum(["user", "limit", "overflow"]) }),
    "compact/end": z.object({
      outcome: z.union([
        z.object({ type: z.literal("completed"), summary: z.string().min(1), model: z.string() }),
        z.object({ type: z.literal("failed"), message: z.string() }),
        z.object({ type: z.literal("cancelled") }),
      ]),
    }),
    "llm/retry": z.object({
      attempt: ordinal,
      maxAttempts: ordinal,
      delayMs: count,
      code: errorCode,
      message: z.string(),
      partial: z.array(part),
    }),
  };

  const envelope = z.object({
    v: z.literal(SCHEMA_VERSION),
    seq: count,
    time: count,
    type: z.string(),
    data: z.unknown(),
  });

  const header = z.object({
    version: z.literal(SCHEMA_VERSION),
    id: z.uuid(),
    cwd: z.string().min(1),
    createdAt: count,
  });
  return { data, envelope, header };
}

/** A valid value, or what is wrong with it. */
export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

/** Checks one event. What the schema does not name is kept out of the log. */
export function checkEvent(value: unknown): Checked<SessionEvent> {
  const outer = schemas().envelope.safeParse(value);
  if (!outer.success) return { ok: false, problem: describe(outer.error) };
  const { data } = schemas();
  const schema = Object.hasOwn(data, outer.data.type) && data[outer.data.type as EventType];
  if (!schema) return { ok: false, problem: `type: unknown event type "${outer.data.type}"` };
  const inner = schema.safeParse(outer.data.data);
  if (!inner.success) return { ok: false, problem: `${outer.data.type}: ${describe(inner.error)}` };
  return { ok: true, value: deepFreeze({ ...outer.data, data: inner.data }) as SessionEvent };
}

/** Checks a header. */
export function checkHeader(value: unknown): Checked<SessionHeader> {
  const result = schemas().header.safeParse(value);
  return result.success
    ? { ok: true, value: deepFreeze(result.data) }
    : { ok: false, problem: describe(result.error) };
}

function describe(error: z.ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.join(".") || "value"}: ${issue.message}`)
    .join("; ");
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
