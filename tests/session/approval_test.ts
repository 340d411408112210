import { assert, assertEquals } from "@std/assert";
import { type ApprovalRequest, ApprovalService } from "../../session/approval.ts";

function request(init: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    sessionId: "session",
    callId: "call",
    reason: "a reason",
    signal: new AbortController().signal,
    ...init,
  };
}

const scope = { key: "bash:git status", label: "git status" };

Deno.test("request() without an answerer is unavailable", async () => {
  assertEquals(await new ApprovalService().request(request()), "unavailable");
});

Deno.test("request() asks the next answerer when one delegates or throws", async () => {
  const approvals = new ApprovalService();
  approvals.answer(() => Promise.resolve("allowed_once"));
  approvals.answer(() => Promise.reject(new Error("broken")));
  approvals.answer(() => Promise.resolve("delegate"));
  assertEquals(await approvals.request(request()), "allowed_once");
});

Deno.test("request() with a failing answerer only is unavailable", async () => {
  const approvals = new ApprovalService();
  approvals.answer(() => {
    throw new Error("broken");
  });
  assertEquals(await approvals.request(request()), "unavailable");
});

Deno.test("request() is cancelled by its signal and withdraws the question", async () => {
  const approvals = new ApprovalService();
  const asked = Promise.withResolvers<AbortSignal>();
  approvals.answer(({ signal }) => {
    asked.resolve(signal);
    return new Promise(() => {});
  });
  const abort = new AbortController();
  const decision = approvals.request(request({ signal: abort.signal }));
  const question = await asked.promise;
  assertEquals(question.aborted, false);
  abort.abort();
  assertEquals(await decision, "cancelled");
  assert(question.aborted);
  assertEquals(await approvals.request(request({ signal: abort.signal })), "cancelled");
});

Deno.test("request() settles others of the same scope and session with an allow always", async () => {
  const approvals = new ApprovalService();
  const answers: ((answer: "allowed_always" | "rejected") => void)[] = [];
  approvals.answer(() => new Promise((resolve) => answers.push(resolve)));
  const first = approvals.request(request({ callId: "1", scope }));
  const second = approvals.request(request({ callId: "2", scope }));
  const foreign = approvals.request(request({ callId: "3", scope, sessionId: "other" }));
  const unscoped = approvals.request(request({ callId: "4" }));
  answers[0]?.("allowed_always");
  assertEquals(await Promise.all([first, second]), ["allowed_always", "allowed_always"]);
  answers[2]?.("rejected");
  answers[3]?.("rejected");
  assertEquals(await Promise.all([foreign, unscoped]), ["rejected", "rejected"]);
});

Deno.test("request() without a scope is allowed once at most", async () => {
  const approvals = new ApprovalService();
  approvals.answer(() => Promise.resolve("allowed_always"));
  assertEquals(await approvals.request(request()), "allowed_once");
});
