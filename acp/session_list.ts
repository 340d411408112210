import type {
  AgentRequestContext,
  ListSessionsRequest,
  ListSessionsResponse,
  SessionInfo,
} from "@agentclientprotocol/sdk";
import { decodeCursor, encodeCursor } from "./_list_cursor.ts";
import type { Bridge, DirectoryLookup } from "./bridge.ts";
import { invalidParams } from "./errors.ts";
import { isAbsolutePath } from "./mapper/paths.ts";
import type { SessionSummary } from "../session/store.ts";

/** The sessions of one page. */
const PAGE = 50;

/**
 * `session/list`: the sessions that were prompted, the last prompted first. Editors open an empty
 * one with every panel; those can be loaded, and are not listed.
 */
export async function sessionList(
  bridge: Bridge,
  { params, signal }: AgentRequestContext<ListSessionsRequest>,
): Promise<ListSessionsResponse> {
  const before = params.cursor == null ? undefined : decodeCursor(params.cursor);
  const isWanted = await cwdFilter(bridge.options.directories, params.cwd);
  const { store } = await bridge.services();
  const page: SessionSummary[] = [];
  for await (const summary of store.list(before)) {
    signal.throwIfAborted();
    if (!await isWanted(summary.cwd)) continue;
    if (page.length === PAGE) {
      return { sessions: page.map(describe), nextCursor: encodeCursor(page.at(-1)!) };
    }
    page.push(summary);
  }
  return { sessions: page.map(describe) };
}

function describe({ id, cwd, title, listedAt }: SessionSummary): SessionInfo {
  return {
    sessionId: id,
    cwd,
    ...title !== undefined && { title },
    updatedAt: new Date(listedAt).toISOString(),
  };
}

/** Whether a session is of the directory that was asked for; links lead to the same place. */
async function cwdFilter(
  { realPath }: DirectoryLookup,
  cwd: string | null | undefined,
): Promise<(cwd: string) => boolean | Promise<boolean>> {
  if (cwd == null) return () => true;
  if (!isAbsolutePath(cwd)) throw invalidParams("cwd", "must be an absolute path", cwd);
  const wanted = await realPath(cwd);
  const known = new Map([[cwd, true]]);
  return async (own) => {
    const answer = known.get(own) ?? await realPath(own) === wanted;
    known.set(own, answer);
    return answer;
  };
}
