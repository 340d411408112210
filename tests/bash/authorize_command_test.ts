import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { authorizeCommand, type EscalationRequest } from "../../bash/authorize_command.ts";
import type { SandboxRunner } from "../../bash/sandbox/probe.ts";
import { loadShellParser } from "../../bash/shell_parser.ts";
import type { SandboxMode, SandboxPolicy } from "../../tools/sandbox_policy.ts";
import type { Authorization } from "../../tools/tool.ts";
import { policyFor } from "./_helpers.ts";

const parser = await loadShellParser();
const BWRAP: SandboxRunner = { type: "bubblewrap", program: "bwrap", root: false };
const NONE: SandboxRunner = { type: "none", reason: "it is missing", advice: "Install it" };

function authorize(
  request: EscalationRequest,
  mode: SandboxMode,
  runner: SandboxRunner = BWRAP,
  more: Partial<SandboxPolicy> = {},
): Authorization {
  return authorizeCommand(request, {
    context: { policy: policyFor("/w", mode, more) },
    runner,
    parser,
  });
}

Deno.test("authorizeCommand() lets a command run where the mode is enforced", () => {
  for (const mode of ["read-only", "workspace-write", "danger-full-access"] as const) {
    assertEquals(authorize({ command: "rm x" }, mode), { type: "allow" });
  }
});

Deno.test("authorizeCommand() asks before a wider mode, for a stated scope", () => {
  const request = {
    command: "git status",
    sandbox_permissions: "danger-full-access",
    justification: " to see ",
  } as const;
  assertEquals(authorize(request, "workspace-write"), {
    type: "ask",
    reason: "escalate sandbox to danger-full-access: to see",
    policy: policyFor("/w", "danger-full-access"),
    scope: {
      key: "bash:danger-full-access:git status",
      label: "`git status` with danger-full-access",
    },
  });
  const compound = authorize({ ...request, command: "git status; rm x" }, "workspace-write");
  assert(compound.type === "ask" && compound.scope === undefined);
});

Deno.test("authorizeCommand() refuses each bad escalation in words of its own", () => {
  const wider = { command: "x", sandbox_permissions: "danger-full-access" } as const;
  const messages = [
    authorize({ command: "x", justification: "why" }, "read-only"),
    authorize(wider, "read-only"),
    authorize({ ...wider, justification: "  " }, "read-only"),
    authorize({ ...wider, justification: "why" }, "danger-full-access"),
    authorize(
      { command: "x", sandbox_permissions: "workspace-write", justification: "why" },
      "workspace-write",
    ),
  ].map((verdict) => verdict.type === "deny" ? verdict.message : verdict.type);
  assertStringIncludes(messages[0]!, "justification goes with sandbox_permissions");
  assertStringIncludes(messages[1]!, "needs a justification");
  assertEquals(messages[2], messages[1]);
  assertStringIncludes(messages[3]!, "must be wider");
  assertStringIncludes(messages[4]!, "current mode is workspace-write");
  for (const message of messages) assertStringIncludes(message, "Nothing was run");
});

Deno.test("authorizeCommand() asks for that very command where there is no sandbox", () => {
  const verdict = authorize({ command: "git status" }, "workspace-write", NONE);
  assertEquals(verdict, {
    type: "ask",
    reason: "run without a sandbox. No sandbox is available: it is missing. Install it",
    policy: policyFor("/w", "workspace-write", { enforcement: "none" }),
  });
  assertEquals(authorize({ command: "git status" }, "danger-full-access", NONE), { type: "allow" });
});

Deno.test("authorizeCommand() asks once for a wider mode that is not enforced either", () => {
  const request = {
    command: "git status",
    sandbox_permissions: "workspace-write",
    justification: "to see",
  } as const;
  const verdict = authorize(request, "read-only", NONE);
  assert(verdict.type === "ask" && verdict.scope === undefined);
  assertStringIncludes(verdict.reason, "escalate sandbox to workspace-write: to see; run without");
  assertEquals(verdict.policy?.enforcement, "none");
});

Deno.test("authorizeCommand() spells out what a person would not see", () => {
  const ask = (command: string, justification = "to see") => {
    const request = { command, justification, sandbox_permissions: "danger-full-access" } as const;
    const verdict = authorize(request, "workspace-write", BWRAP);
    assert(verdict.type === "ask");
    return verdict.reason;
  };
  assertEquals(ask("git status"), "escalate sandbox to danger-full-access: to see");
  assertStringIncludes(ask(`ls${" ".repeat(3_000)}; rm x`), "ls[3000 blanks]; rm x");
  assertStringIncludes(ask(`ls${"\n".repeat(200)}rm x`), "ls[200 line ends]rm x");
  assertStringIncludes(ask("ls \u202e x\r\u001b[2K"), "ls \\u202e x\\u000d\\u001b[2K");
  assertStringIncludes(ask("ls", "a\u202eb"), "a\\u202eb");
});
