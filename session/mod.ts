/**
 * Sessions: a closed union of events, their log in Deno KV, the fold, the turn loop, the models it
 * asks, and the approval seam.
 *
 * @example An agent that answers `!` prompts
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ToolRegistry } from "@dsh/acp/tools";
 * import {
 *   agentFactory,
 *   ApprovalService,
 *   catalogueConfigFromEnv,
 *   modelCatalogue,
 *   openSessionStore,
 *   PERMISSION_PRESETS,
 * } from "@dsh/acp/session";
 *
 * await using store = await openSessionStore({ path: ":memory:", now: Date.now });
 * const models = catalogueConfigFromEnv({});
 * if (models.type === "invalid") throw new TypeError(models.problems.join("\n"));
 * const agents = agentFactory({
 *   store,
 *   models: modelCatalogue(models.config),
 *   approvals: new ApprovalService(),
 *   defaults: { preset: "workspace-write", presets: PERMISSION_PRESETS },
 *   toolsFor: () => Promise.resolve(new ToolRegistry()),
 *   policyFor: ({ cwd }) => (mode) => ({
 *     mode,
 *     writableRoots: [cwd],
 *     protectedPaths: [],
 *     network: "on",
 *     enforcement: "sandbox",
 *   }),
 * });
 * await using agent = await agents.create({ cwd: "/" });
 * const end = await agent.prompt([{ type: "text", text: "hello" }]);
 * // Nobody set a key.
 * assertEquals(end.type === "error" && end.code, "no_model");
 * ```
 *
 * @module
 */
export { openAgent } from "./agent.ts";
export type { AgentParts } from "./agent.ts";
export { compactFile } from "./compact_file.ts";
export type { CompactResult } from "./compact_file.ts";
export { agentFactory } from "./agent_factory.ts";
export type { AgentFactoryOptions } from "./agent_factory.ts";
export type {
  AgentEvent,
  AgentFactory,
  AgentHandle,
  AgentListener,
  ClientAbilities,
  OptionResult,
} from "./agent_types.ts";
export { ApprovalService } from "./approval.ts";
export type { ApprovalAnswer, ApprovalAnswerer, ApprovalRequest } from "./approval.ts";
export type { PromptTemplate } from "./commands/prompt_templates.ts";
export type { SessionCommand } from "./commands/session_command.ts";
export { SCHEMA_VERSION } from "./events.ts";
export type {
  ApprovalDecision,
  AssistantPart,
  Cost,
  EventBody,
  EventData,
  EventEnvelope,
  EventOf,
  EventType,
  PromptContent,
  SessionEvent,
  SessionHeader,
  TokenUsage,
  ToolOutcome,
  TurnEnd,
  TurnErrorCode,
} from "./events.ts";
export { exportSession } from "./export_session.ts";
export { SessionFold } from "./fold.ts";
export type { OpenCall, OpenTurn } from "./fold.ts";
export { importSession } from "./import_session.ts";
export type { ImportResult } from "./import_session.ts";
export { openKv, StoreOpenError, StoreUnavailableError } from "./kv.ts";
export type { Kv, KvAtomic, KvEntry, KvKey, KvSelector, OpenKvOptions } from "./kv.ts";
export { LEASE_MS } from "./lease.ts";
export type { LeaseOptions } from "./lease.ts";
export type { LeaseHolder, ProcessIdentity } from "./lease_holder.ts";
export { SessionLog } from "./log.ts";
export type { LogListener, LogTail, SessionLogOptions } from "./log.ts";
export {
  DamagedEventError,
  LogConflictError,
  NewerSchemaError,
  SessionInUseError,
} from "./log_errors.ts";
export { modelCatalogue } from "./model/catalogue.ts";
export { catalogueConfigFromEnv } from "./model/catalogue_config.ts";
export type {
  CatalogueConfig,
  CatalogueConfigResult,
  CatalogueFlags,
  Environment,
  ProviderConfig,
} from "./model/catalogue_config.ts";
export { KNOWN_MODELS } from "./model/known_models.ts";
export type { ProviderId } from "./model/known_models.ts";
export type {
  Model,
  ModelCatalogue,
  ModelFailure,
  ModelInfo,
  ModelMessage,
  ModelPrice,
  ModelRef,
  ModelRequest,
  ModelResolution,
  ModelStreamPart,
  ModelToolResult,
} from "./model/model.ts";
export { providerModel } from "./model/providers.ts";
export type { ProviderModelOptions, RequestOptions } from "./model/providers.ts";
export { Secret } from "./model/secret.ts";
export type { StartTimer } from "./model/start_timer.ts";
export { PERMISSION_PRESETS } from "./permission_presets.ts";
export type { PermissionPreset } from "./permission_presets.ts";
export type { LogItem } from "./read_damaged.ts";
export type { Finding, SessionReport } from "./repair.ts";
export { SessionConfig } from "./session_config.ts";
export type {
  Choices,
  OptionChange,
  OptionChoice,
  PendingChoices,
  SessionDefaults,
  SessionOption,
} from "./session_config.ts";
export { openSessionStore } from "./store.ts";
export type {
  DeleteOptions,
  DeleteResult,
  PruneResult,
  SessionPosition,
  SessionStore,
  SessionStoreOptions,
  SessionSummary,
  StoredEvent,
} from "./store.ts";
export type { SystemPrompt } from "./system_prompt.ts";
export { DEFAULT_LIMITS } from "./turn_limits.ts";
export type { TurnLimits } from "./turn_limits.ts";
export type { McpServer } from "../tools/mcp/mcp_server.ts";
export type { TodoEntry } from "../tools/plan.ts";
export type { ToolSource } from "../tools/tool_registry.ts";
