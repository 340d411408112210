/** The approval seam: who asks is one side, who answers is the other, and silence is a refusal. */
import type { ApprovalScope } from "../tools/tool.ts";
import type { ApprovalDecision } from "./events.ts";

/** A question to the user whether one call may run. */
export interface ApprovalRequest {
  /** The session the call belongs to. */
  readonly sessionId: string;
  /** Absent for a request that belongs to no call; no card can be shown for it. */
  readonly callId?: string;
  /** Why it needs to be asked, for a person. */
  readonly reason: string;
  /** What an "always" would cover. Absent: only this call can be allowed. */
  readonly scope?: ApprovalScope;
  /** Aborts when the call is cancelled: the answerer then withdraws the question. */
  readonly signal: AbortSignal;
}

/** What an answerer says: a decision, or that the request is not its own. */
export type ApprovalAnswer = ApprovalDecision | "delegate";

/** Answers requests. One that throws has not answered; the next in the chain is asked. */
export type ApprovalAnswerer = (request: ApprovalRequest) => Promise<ApprovalAnswer>;

/**
 * Puts requests to a chain of answerers, last added first. Fail-closed: without an answer the
 * decision is `unavailable`, and an aborted request is `cancelled`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ApprovalService } from "@dsh/acp/session";
 *
 * const approvals = new ApprovalService();
 * const request = { sessionId: "s", callId: "c", reason: "rm", signal: new AbortController().signal };
 * assertEquals(await approvals.request(request), "unavailable");
 * using _answerer = approvals.answer(() => Promise.resolve("allowed_once"));
 * assertEquals(await approvals.request(request), "allowed_once");
 * ```
 */
export class ApprovalService {
  #answerers: ApprovalAnswerer[] = [];
  #open = new Set<OpenRequest>();

  /** Adds an answerer to the front of the chain. */
  answer(answerer: ApprovalAnswerer): Disposable {
    this.#answerers.unshift(answerer);
    return {
      [Symbol.dispose]: () => {
        this.#answerers = this.#answerers.filter((other) => other !== answerer);
      },
    };
  }

  /**
   * Asks. An `allowed_always` also settles the session's other open requests of the same scope,
   * as `allowed_always`, and withdraws their questions.
   */
  async request(request: ApprovalRequest): Promise<ApprovalDecision> {
    if (request.signal.aborted) return "cancelled";
    const open = new OpenRequest(request);
    this.#open.add(open);
    try {
      const decision = await Promise.race([open.settled, this.#ask(open.request)]);
      if (decision === "allowed_always" && !request.scope) return "allowed_once";
      if (decision === "allowed_always") this.#settleCovered(open);
      return decision;
    } finally {
      this.#open.delete(open);
      open.dispose();
    }
  }

  async #ask(request: ApprovalRequest): Promise<ApprovalDecision> {
    for (const answerer of this.#answerers) {
      try {
        const answer = await answerer(request);
        if (answer !== "delegate") return answer;
      } catch {
        // An answerer that fails has not answered. The chain ends in a refusal.
      }
    }
    return "unavailable";
  }

  #settleCovered({ request }: OpenRequest): void {
    for (const other of this.#open) {
      const covered = other.request.sessionId === request.sessionId &&
        other.request.scope?.key === request.scope?.key;
      if (covered) other.settle("allowed_always");
    }
  }
}

/** A request that waits, and can be settled from outside of its answerer. */
class OpenRequest {
  readonly request: ApprovalRequest;
  readonly settled: Promise<ApprovalDecision>;
  #resolve: (decision: ApprovalDecision) => void;
  #withdraw = new AbortController();
  #outer: AbortSignal;
  #cancel = () => this.settle("cancelled");

  constructor(request: ApprovalRequest) {
    const { promise, resolve } = Promise.withResolvers<ApprovalDecision>();
    this.settled = promise;
    this.#resolve = resolve;
    this.#outer = request.signal;
    this.#outer.addEventListener("abort", this.#cancel, { once: true });
    this.request = { ...request, signal: this.#withdraw.signal };
  }

  settle(decision: ApprovalDecision): void {
    this.#resolve(decision);
    this.#withdraw.abort();
  }

  dispose(): void {
    this.#outer.removeEventListener("abort", this.#cancel);
    // Whoever still shows the question must take it down, however it was settled.
    this.#withdraw.abort();
  }
}
