/** Makes agents over a session store. */
import type { ToolRegistry } from "../tools/tool_registry.ts";
import { type AgentParts, openAgent } from "./agent.ts";
import type { AgentFactory, AgentHandle, ClientAbilities } from "./agent_types.ts";
import type { SessionHeader } from "./events.ts";
import type { SessionLog } from "./log.ts";
import type { PermissionPreset } from "./permission_presets.ts";
import type { SessionStore } from "./store.ts";
import { systemPrompt } from "./system_prompt.ts";

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
  readonly policyFor: (header: SessionHeader) => AgentParts["policyFor"];
}

/** Makes a factory. */
export function agentFactory(options: AgentFactoryOptions): AgentFactory {
  async function open(log: SessionLog, abilities: ClientAbilities): Promise<AgentHandle> {
    const tools = await options.toolsFor(log.header, abilities);
    return await openAgent({
      log,
      tools,
      models: options.models,
      approvals: options.approvals,
      defaults: {
        ...options.defaults,
        presets: options.presetsFor?.(log.header) ?? options.defaults.presets,
      },
      system: systemPrompt({ cwd: log.header.cwd }),
      policyFor: options.policyFor(log.header),
      ...(options.limits && { limits: options.limits }),
      ...(options.onFault && { onFault: options.onFault }),
    });
  }
  return {
    create: async (init, abilities = {}) => await open(await options.store.create(init), abilities),
    resume: async (id, abilities = {}) => {
      const log = await options.store.open(id);
      return log && await open(log, abilities);
    },
  };
}
