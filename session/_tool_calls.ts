/** Runs the calls of one answer: validated, authorized, in the model's order where that matters. */
import { isWiderMode, type SandboxPolicy } from "../tools/sandbox_policy.ts";
import {
  type ApprovalScope,
  type Authorization,
  errorResult,
  type ToolResult,
} from "../tools/tool.ts";
import type { PreparedCall } from "../tools/tool_registry.ts";
import type { TurnContext } from "./_turn_context.ts";
import type { ApprovalDecision, EventBody, ToolOutcome } from "./events.ts";
import { isAllowed } from "./fold.ts";

/** A call as the model, or the user with `!`, made it. */
export interface CallRequest {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** The user's own command needs no approval beyond the session's mode. */
  readonly approved?: boolean;
}

/** Runs the calls. Each has exactly one logged result when this resolves, aborted or not. */
export async function runToolCalls(
  context: TurnContext,
  calls: readonly CallRequest[],
): Promise<void> {
  let parallel: Promise<void>[] = [];
  for (const request of calls) {
    const prepared = context.tools.prepare(request.name, request.arguments);
    if (prepared.type === "invalid") {
      await refuse(context, request, prepared.result);
    } else if (prepared.call.concurrency === "parallel") {
      parallel.push(runCall(context, request, prepared.call));
    } else {
      // An exclusive call is a barrier: it sees what the calls before it did.
      await settleAll(parallel);
      parallel = [];
      await runCall(context, request, prepared.call);
    }
  }
  await settleAll(parallel);
}

/** Waits for all, then fails with the first failure: no call is left running behind an error. */
async function settleAll(calls: readonly Promise<void>[]): Promise<void> {
  for (const settled of await Promise.allSettled(calls)) {
    if (settled.status === "rejected") throw settled.reason;
  }
}

async function runCall(
  context: TurnContext,
  request: CallRequest,
  call: PreparedCall,
): Promise<void> {
  if (context.signal.aborted) {
    return await refuse(context, request, errorResult("the turn was cancelled before this call"));
  }
  const policy = context.policy();
  const authorization = await authorize(context, request, call, policy);
  switch (authorization.type) {
    case "deny":
      return await refuse(context, request, errorResult(authorization.message));
    case "allow":
      await context.record(callEvent(request));
      break;
    case "ask": {
      const decision = await ask(context, request, authorization);
      if (isAllowed(decision)) break;
      return await context.record(
        resultEvent(
          request,
          errorResult(refusal(decision, authorization.reason, context.signal.aborted)),
          "not_started",
        ),
      );
    }
  }
  const { result, outcome } = await execute(
    context,
    request,
    call,
    authorization.policy ?? policy,
  );
  await context.record(
    resultEvent(request, result, outcome),
    ...result.plan ? [{ type: "todo/write", data: { entries: result.plan } } as const] : [],
  );
}

/** The value, or undefined once the signal aborts: nothing may hold a cancelled turn. */
async function beforeAbort<Value>(
  promised: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const stop = () => resolve(undefined);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promised, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The tool's own verdict, after what the session has settled already. */
async function authorize(
  context: TurnContext,
  request: CallRequest,
  call: PreparedCall,
  policy: SandboxPolicy,
): Promise<Authorization> {
  const { sessionId, cwd } = context;
  let verdict: Authorization;
  try {
    const asked = call.authorize({ sessionId, cwd, policy, callId: request.callId });
    verdict = await beforeAbort(asked, context.signal) ??
      { type: "deny", message: "the turn was cancelled before this call" };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      type: "deny",
      message: `it could not be decided whether the call may run: ${message}`,
    };
  }
  if (verdict.type === "deny") return verdict;
  const wanted = verdict.policy?.mode ?? policy.mode;
  // Nobody is asked for what could not be had: the process itself was granted less.
  if (isWiderMode(wanted, context.policy(wanted).mode)) {
    return {
      type: "deny",
      message: `the sandbox mode ${wanted} is not available here: this agent was started with ` +
        "permissions that do not allow it. Nothing was run",
    };
  }
  if (verdict.type === "allow") return verdict;
  const settled = request.approved || isCovered(context, verdict.scope);
  if (settled) return { type: "allow", ...(verdict.policy && { policy: verdict.policy }) };
  if (context.config.approvalPolicy === "never") {
    return {
      type: "deny",
      message: `this needs the user's approval (${verdict.reason}), ` +
        "and the session's permission preset never asks",
    };
  }
  return verdict;
}

function isCovered(context: TurnContext, scope: ApprovalScope | undefined): boolean {
  return scope !== undefined && context.fold.allowedScopes.has(scope.key);
}

async function ask(
  context: TurnContext,
  request: CallRequest,
  { reason, scope }: Extract<Authorization, { type: "ask" }>,
): Promise<ApprovalDecision> {
  const { callId } = request;
  const scoped = scope && { scope };
  await context.record(callEvent(request, true), {
    type: "approval/asked",
    data: { callId, reason, ...scoped },
  });
  const decision = await context.approvals.request({
    sessionId: context.sessionId,
    callId,
    reason,
    signal: context.signal,
    ...scoped,
  });
  await context.record({ type: "approval/decided", data: { callId, decision, ...scoped } });
  return decision;
}

function refusal(decision: ApprovalDecision, reason: string, aborted: boolean): string {
  switch (decision) {
    case "cancelled":
      return aborted
        ? `the turn was cancelled while the user was asked (${reason}). Nothing was run.`
        : `the user closed the question without an answer (${reason}). Nothing was run. ` +
          "Go on without it, or say why it is needed before trying again.";
    case "unavailable":
      return `nobody could be asked (${reason}). Nothing was run. ` +
        "Find a way that needs no approval, or tell the user what to run.";
    case "rejected":
      return `the user refused (${reason}). Nothing was run. ` +
        "Do not try the same again; ask how to go on or find another way.";
    case "allowed_once":
    case "allowed_always":
      return "";
  }
}

/** Runs the body. A cancelled one that does not end in time is abandoned: the turn must not hang. */
async function execute(
  context: TurnContext,
  request: CallRequest,
  call: PreparedCall,
  policy: SandboxPolicy,
): Promise<{ result: ToolResult; outcome: ToolOutcome }> {
  const { callId } = request;
  const abandoned = abandonment(context);
  let open = true;
  try {
    const finished = call.execute({
      sessionId: context.sessionId,
      callId,
      cwd: context.cwd,
      signal: context.signal,
      policy,
      output: (data) => {
        // Late output of an abandoned call would come after its result.
        if (open && data !== "") void context.emit({ type: "output", callId, data });
      },
    }).then((result) => ({ result, outcome: "finished" as const }));
    return await Promise.race([finished, abandoned.promise]);
  } finally {
    open = false;
    abandoned.dispose();
  }
}

function abandonment(context: TurnContext) {
  const { promise, resolve } = Promise.withResolvers<
    { result: ToolResult; outcome: ToolOutcome }
  >();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = () => {
    timer = setTimeout(() => {
      const message = "the call was cancelled and did not end in time; its outcome is unknown";
      resolve({ result: errorResult(message), outcome: "unknown" });
    }, context.limits.abandonAfterMs);
  };
  if (context.signal.aborted) start();
  else context.signal.addEventListener("abort", start, { once: true });
  return {
    promise,
    dispose: () => {
      context.signal.removeEventListener("abort", start);
      clearTimeout(timer);
    },
  };
}

async function refuse(
  context: TurnContext,
  request: CallRequest,
  result: ToolResult,
): Promise<void> {
  await context.record(callEvent(request), resultEvent(request, result, "not_started"));
}

function callEvent(request: CallRequest, awaitsApproval = false): EventBody {
  const { callId, name } = request;
  return {
    type: "tool/call",
    data: {
      callId,
      name,
      arguments: request.arguments,
      ...(awaitsApproval && { awaitsApproval }),
    },
  };
}

function resultEvent(request: CallRequest, result: ToolResult, outcome: ToolOutcome): EventBody {
  const { content, isError, meta } = result;
  return {
    type: "tool/result",
    data: { callId: request.callId, content, isError, outcome, ...(meta && { meta }) },
  };
}
