/** The bridge: one ACP connection over the interfaces of agents, store and approval. */
import {
  agent,
  type AgentConnection,
  type AgentContext,
  type AgentRequestContext,
  type AuthMethod,
  type ClientCapabilities,
  type Implementation,
  type Stream,
} from "@agentclientprotocol/sdk";
import type { AgentFactory } from "../session/agent_types.ts";
import type { ApprovalService } from "../session/approval.ts";
import type { SessionStore } from "../session/store.ts";
import { SessionTable } from "./_session_table.ts";
import { RequestLedger } from "./_request_ledger.ts";
import { authenticate } from "./authenticate.ts";
import { peerError } from "./errors.ts";
import { initialize } from "./initialize.ts";
import { permissionAnswerer } from "./request_permission.ts";
import { sessionClose } from "./session_close.ts";
import { sessionDelete } from "./session_delete.ts";
import { sessionList } from "./session_list.ts";
import { sessionLoad } from "./session_load.ts";
import { sessionNew } from "./session_new.ts";
import { sessionPrompt } from "./session_prompt.ts";
import { sessionResume } from "./session_resume.ts";
import { sessionSetConfigOption } from "./session_set_config_option.ts";

/** What the bridge asks of the agent behind it. */
export interface BridgeServices {
  /** Makes and wakes sessions. */
  readonly agents: AgentFactory;
  /** Finds stored sessions before an agent is made for one, lists and deletes them. */
  readonly store: Pick<SessionStore, "header" | "list" | "delete">;
  /** Removes what a deleted session left on disk beside the store. Absent: there is nothing. */
  removeFiles?(sessionId: string): Promise<void>;
  /** Absent: the agent never asks. */
  readonly approvals?: ApprovalService;
  /** Why no model can be asked, for a person; undefined when one can. */
  modelProblem(): Promise<string | undefined>;
}

/** The part of the file system the bridge looks at. */
export interface DirectoryLookup {
  /** What is at an absolute path. */
  kind(path: string): Promise<"directory" | "other" | "missing">;
  /** The path with links resolved, or the path itself where that is impossible. */
  realPath(path: string): Promise<string>;
}

/** Options of {@linkcode connectBridge}. */
export interface BridgeOptions {
  /** What `initialize` says of the agent. */
  readonly agentInfo: Implementation;
  /** What `initialize` offers; `authenticate` takes one of their ids. */
  readonly authMethods: readonly AuthMethod[];
  /** Whether the model that sessions start with takes images. @default {false} */
  readonly images?: boolean;
  /** Opens what sessions need; called at the first method that does, and once. */
  readonly services: () => Promise<BridgeServices>;
  /** How working directories are checked. */
  readonly directories: DirectoryLookup;
  /** Is given a line for each answered request: method, id, outcome and time, no contents. */
  readonly trace?: (line: string) => void;
  /** Is told of exceptions that the peer is not. */
  readonly report: (error: unknown) => void;
}

/** What the method handlers share. */
export interface Bridge {
  readonly options: BridgeOptions;
  readonly sessions: SessionTable;
  /** What arrived and is not answered; `session/cancel` and what follows an answer go through it. */
  readonly ledger: Pick<RequestLedger, "cancelSignal" | "afterResult">;
  /** Calls to the client, in and outside of its requests. */
  readonly client: AgentContext;
  /** What the client declared last; sessions take a copy when they open. */
  capabilities: ClientCapabilities;
  services(): Promise<BridgeServices>;
}

/** A served connection. Disposing it ends its sessions. */
export interface BridgeConnection extends AsyncDisposable {
  /** The SDK's connection: its `closed` resolves when the client is gone. */
  readonly connection: AgentConnection;
}

/** Serves one client over a stream of ACP messages until it closes. */
export function connectBridge(stream: Stream, options: BridgeOptions): BridgeConnection {
  const sessions = new SessionTable();
  const resources = new AsyncDisposableStack();
  let services: Promise<BridgeServices> | undefined;
  let bridge: Bridge;

  function openServices(): Promise<BridgeServices> {
    services ??= options.services().then((opened) => {
      if (opened.approvals) resources.use(opened.approvals.answer(permissionAnswerer(bridge)));
      return opened;
    });
    // A store that could not be opened may be there the next time.
    services.catch(() => services = undefined);
    return services;
  }

  /** Lets a handler see the bridge, and the peer only what it may. */
  function handle<Params, Result>(
    method: (bridge: Bridge, context: AgentRequestContext<Params>) => Promise<Result> | Result,
  ) {
    return async (context: AgentRequestContext<Params>): Promise<Result> => {
      try {
        return await method(bridge, context);
      } catch (error) {
        throw peerError(error, options.report);
      }
    };
  }

  const ledger = new RequestLedger(stream, options.trace);
  const connection = agent({ name: options.agentInfo.name })
    .onConnect(({ client }) => {
      bridge = { options, sessions, client, ledger, capabilities: {}, services: openServices };
    })
    .onRequest("initialize", handle(initialize))
    .onRequest("authenticate", handle(authenticate))
    .onRequest("session/new", handle(sessionNew))
    .onRequest("session/list", handle(sessionList))
    .onRequest("session/load", handle(sessionLoad))
    .onRequest("session/resume", handle(sessionResume))
    .onRequest("session/prompt", handle(sessionPrompt))
    .onRequest("session/close", handle(sessionClose))
    .onRequest("session/delete", handle(sessionDelete))
    .onRequest("session/set_config_option", handle(sessionSetConfigOption))
    .connect(ledger.stream);

  return {
    connection,
    [Symbol.asyncDispose]: async () => {
      await sessions[Symbol.asyncDispose]();
      await resources.disposeAsync();
    },
  };
}
