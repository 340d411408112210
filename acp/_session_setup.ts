/** What `session/new` and `session/load` have in common. */
import type { McpServer } from "@agentclientprotocol/sdk";
import type { AgentHandle, ClientAbilities } from "../session/agent_types.ts";
import { LiveSession } from "./_live_session.ts";
import { mcpServers } from "./_mcp_servers.ts";
import type { Bridge } from "./bridge.ts";
import { clientAbilities } from "./elicitation.ts";
import { invalidParams } from "./errors.ts";
import { isAbsolutePath } from "./mapper/paths.ts";
import { terminalSupport } from "./mapper/terminal.ts";

/** What editors send along with every session. */
export interface SessionExtras {
  readonly mcpServers?: readonly McpServer[] | null;
  readonly additionalDirectories?: readonly string[] | null;
}

/** What a session is opened with, once its directories were looked at. */
export interface SessionPlan {
  readonly abilities: ClientAbilities;
  /** What the person should know. */
  readonly notices: readonly string[];
}

/**
 * Refuses a working directory that is not an absolute path of an existing directory, and an
 * additional one that is not absolute. Editors send the additional ones with every session, so one
 * that has gone is named and left out: it must not keep a session from opening.
 */
export async function planSession(
  bridge: Bridge,
  params: SessionExtras & { readonly cwd: string },
): Promise<SessionPlan> {
  const { directories } = bridge.options;
  const { cwd } = params;
  if (!isAbsolutePath(cwd)) throw invalidParams("cwd", "must be an absolute path", cwd);
  if (await directories.kind(cwd) !== "directory") {
    throw invalidParams("cwd", "must be an existing directory", cwd);
  }
  const present: string[] = [];
  const missing: string[] = [];
  for (const path of new Set(params.additionalDirectories ?? [])) {
    if (!isAbsolutePath(path)) {
      throw invalidParams("additionalDirectories", "must be absolute paths", path);
    }
    (await directories.kind(path) === "directory" ? present : missing).push(path);
  }
  return {
    abilities: {
      ...clientAbilities(bridge),
      mcpServers: mcpServers(params.mcpServers),
      directories: present,
    },
    notices: missing.length === 0
      ? []
      : [`Additional directories that do not exist were left out: ${missing.join(", ")}.`],
  };
}

/**
 * Makes a session live on this connection.
 *
 * @param requestId The request that opens it: after its answer the client is told more.
 */
export function startSession(
  bridge: Bridge,
  handle: AgentHandle,
  notices: readonly string[],
  requestId: unknown,
): LiveSession {
  const session = new LiveSession(
    handle,
    bridge.client,
    {
      terminal: terminalSupport(bridge.capabilities._meta),
      compaction: Boolean(bridge.capabilities.session?.compaction),
    },
    notices,
  );
  bridge.sessions.add(session);
  bridge.ledger.afterResult(requestId, () => {
    session.announce().catch(bridge.options.report);
  });
  return session;
}
