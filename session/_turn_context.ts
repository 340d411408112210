import type { SandboxPolicy } from "../tools/sandbox_policy.ts";
import type { ToolRegistry } from "../tools/tool_registry.ts";
import type { SessionNamer } from "./_session_namer.ts";
import type { AgentEvent, OptionResult } from "./agent_types.ts";
import type { ApprovalService } from "./approval.ts";
import type { EventBody } from "./events.ts";
import type { SessionFold } from "./fold.ts";
import type { ModelCatalogue } from "./model/model.ts";
import type { SessionConfig } from "./session_config.ts";
import type { SystemPrompt } from "./system_prompt.ts";
import type { TurnLimits } from "./turn_limits.ts";

/** What one turn works with. The turn is plain functions of this. */
export interface TurnContext {
  readonly sessionId: string;
  readonly cwd: string;
  readonly fold: SessionFold;
  readonly config: SessionConfig;
  readonly tools: ToolRegistry;
  readonly models: ModelCatalogue;
  /** Names the session while its first turn runs. */
  readonly namer: Pick<SessionNamer, "begin" | "take">;
  readonly approvals: ApprovalService;
  /** Writes the system prompt. */
  readonly system: () => Promise<SystemPrompt>;
  readonly limits: TurnLimits;
  /** Aborts when the turn is cancelled or the session is disposed. */
  readonly signal: AbortSignal;
  /**
   * What a call may write and reach under a mode, by default the one in force now. Where the mode
   * cannot be honoured, that of the answer is narrower.
   */
  policy(mode?: SandboxPolicy["mode"]): SandboxPolicy;
  /** Chooses an option and tells the listeners, in the name of the user. */
  choose(id: string, value: string): Promise<OptionResult>;
  /** Makes events durable, folds them, tells the listeners, and waits for slow ones. */
  record(...bodies: readonly EventBody[]): Promise<void>;
  /** Tells the listeners of something that is not logged; the promise is their backpressure. */
  emit(event: AgentEvent): Promise<void>;
}
