/** Makes agents over a session store. */
import type { ToolRegistry } from "../tools/tool_registry.ts";
import { type AgentParts, openAgent } from "./agent.ts";
import type { AgentFactory, AgentHandle, ClientAbilities } from "./agent_types.ts";
import { readPromptTemplates } from "./commands/prompt_templates.ts";
import type { SessionHeader } from "./events.ts";
import type { SessionLog } from "./log.ts";
import type { PermissionPreset } from "./permission_presets.ts";
import type { SessionStore } from "./store.ts";
import { readSystemPrompt } from "./system_prompt.ts";

/** What all agents of a connection share, and what is made for each. */
export interface AgentFactoryOptions extends
  Pick<
    AgentParts,
    "models" | "approvals" | "defaults" | "limits" | "onFault"
  > {
  /** Where the sessions are. */
  readonly store: SessionStore;
  /** The presets a session is offered. @default {those of `defaults`} */
  readonly presetsFor?: (header: SessionHeader) => readonly PermissionPreset[];
  /** Makes a session's tools. */
  readonly toolsFor: (header: SessionHeader, abilities: ClientAbilities) => Promise<ToolRegistry>;
  /** What a session's calls may write and reach under a sandbox mode. */
  readonly policyFor: (
    header: SessionHeader,
    abilities: ClientAbilities,
  ) => AgentParts["policyFor"];
}

/** Makes a factory. */
export function agentFactory(options: AgentFactoryOptions): AgentFactory {
  const { store } = options;

  async function open(log: SessionLog, abilities: ClientAbilities): Promise<AgentHandle> {
    // Until there is an agent to own them; a session that cannot be opened is free again.
    await using opened = new AsyncDisposableStack();
    opened.use(log);
    const tools = opened.use(await options.toolsFor(log.header, abilities));
    const agent = await openAgent({
      log,
      tools,
      models: options.models,
      approvals: options.approvals,
      defaults: {
        ...options.defaults,
        presets: options.presetsFor?.(log.header) ?? options.defaults.presets,
      },
      system: () => readSystemPrompt(log.header.cwd, abilities.directories),
      templates: () => readPromptTemplates(log.header.cwd),
      policyFor: options.policyFor(log.header, abilities),
      ...(options.limits && { limits: options.limits }),
      ...(options.onFault && { onFault: options.onFault }),
    });
    opened.move();
    return agent;
  }

  // The session is owned before anything is written to it, the closing of an open turn included.
  async function resume(
    id: string,
    abilities: ClientAbilities = {},
  ): Promise<AgentHandle | undefined> {
    const log = await store.claim(id);
    return log && await open(log, abilities);
  }

  async function create(
    init: { readonly cwd: string },
    abilities: ClientAbilities = {},
  ): Promise<AgentHandle> {
    const { header } = await store.create(init);
    const agent = await resume(header.id, abilities);
    if (!agent) throw new Error(`Cannot open the session ${header.id} as it was deleted at once`);
    return agent;
  }

  return { create, resume };
}
