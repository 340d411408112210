/** What `session/new` and `session/load` have in common. */
import type { McpServer } from "@agentclientprotocol/sdk";
import { LiveSession } from "./_live_session.ts";
import type { AgentHandle } from "../session/agent_types.ts";
import type { Bridge } from "./bridge.ts";
import { invalidParams } from "./errors.ts";
import { isAbsolutePath } from "./mapper/paths.ts";
import { terminalSupport } from "./mapper/terminal.ts";

/** What editors send along with every session. */
export interface SessionExtras {
  readonly mcpServers?: readonly McpServer[] | null;
  readonly additionalDirectories?: readonly string[] | null;
}

/** Refuses a working directory that is not an absolute path of an existing directory. */
export async function checkDirectory(bridge: Bridge, cwd: string): Promise<void> {
  if (!isAbsolutePath(cwd)) throw invalidParams("cwd", "must be an absolute path", cwd);
  const kind = await bridge.options.directories.kind(cwd);
  if (kind !== "directory") throw invalidParams("cwd", "must be an existing directory", cwd);
}

/** Makes a session live on this connection. */
export function startSession(
  bridge: Bridge,
  handle: AgentHandle,
  extras: SessionExtras,
): LiveSession {
  const session = new LiveSession(
    handle,
    bridge.client,
    {
      terminal: terminalSupport(bridge.capabilities._meta),
      compaction: Boolean(bridge.capabilities.session?.compaction),
    },
    unsupportedNotices(extras),
  );
  bridge.sessions.add(session);
  return session;
}

/** Editors send what is configured whether or not an agent can use it, so it is named, not refused. */
function unsupportedNotices({ additionalDirectories }: SessionExtras): string[] {
  const notices: string[] = [];
  if (additionalDirectories?.length) {
    const paths = additionalDirectories.join(", ");
    notices.push(`Additional directories are not supported yet and were ignored: ${paths}.`);
  }
  return notices;
}
