import { isWiderMode, type SandboxMode } from "../tools/sandbox_policy.ts";
import type { Authorization, AuthorizeContext } from "../tools/tool.ts";
import { commandPrefix } from "./command_prefix.ts";
import { describeMissingRunner } from "./sandbox/choose_containment.ts";
import type { SandboxRunner } from "./sandbox/probe.ts";
import type { ShellParser } from "./shell_parser.ts";

/** What a call asks for. */
export interface EscalationRequest {
  /** The command as the model wrote it. */
  readonly command: string;
  /** The wider mode it asks for. */
  readonly sandbox_permissions?: SandboxMode | undefined;
  /** Why, for the user to decide on. */
  readonly justification?: string | undefined;
}

/** Options for {@linkcode authorizeCommand}. */
export interface AuthorizeOptions {
  /** The call, with the policy of its session. */
  readonly context: Pick<AuthorizeContext, "policy">;
  /** The sandbox of this machine. */
  readonly runner: SandboxRunner;
  /** Finds the scope of an "always". */
  readonly parser: ShellParser;
}

/**
 * Decides whether a command may run as it is.
 *
 * It needs the user where it asks for more than the session's mode gives, and where the mode asks
 * for a sandbox and there is none. The latter is agreed to for that very command only: there is no
 * "always" for running without a fence.
 */
export function authorizeCommand(
  request: EscalationRequest,
  options: AuthorizeOptions,
): Authorization {
  const { policy } = options.context;
  const wanted = request.sandbox_permissions;
  const refusal = refuseEscalation(request, policy.mode);
  if (refusal !== undefined) return { type: "deny", message: refusal };
  const mode = wanted ?? policy.mode;
  const escalation = wanted === undefined
    ? undefined
    : `escalate sandbox to ${wanted}: ${visible(request.justification?.trim() ?? "")}`;
  const spelled = isPlain(request.command)
    ? undefined
    : `the command holds characters that cannot be seen or would mislead: ${
      visible(request.command)
    }`;
  if (isUnfenced(mode, options)) {
    const { runner } = options;
    const missing = runner.type === "none" ? describeMissingRunner(runner) : "";
    return {
      type: "ask",
      reason: [escalation, `run without a sandbox. ${missing}`, spelled].filter(Boolean).join("; "),
      policy: { ...policy, mode, enforcement: "none" },
    };
  }
  if (escalation === undefined) return { type: "allow" };
  const prefix = commandPrefix(request.command, options.parser);
  return {
    type: "ask",
    reason: [escalation, spelled].filter(Boolean).join("; "),
    policy: { ...policy, mode },
    ...(prefix !== undefined && {
      scope: { key: `bash:${mode}:${prefix}`, label: `\`${prefix}\` with ${mode}` },
    }),
  };
}

/** Control and direction characters, and gaps that push the rest out of sight. */
const HIDDEN =
  // deno-lint-ignore no-control-regex -- they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function isPlain(command: string): boolean {
  return command.search(HIDDEN) === -1 && !/[ \t]{40}|\n{5}/.test(command);
}

/** A text with nothing in it that a person would not see. */
function visible(text: string): string {
  return text
    .replace(HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/[ \t]{40,}/g, (gap) => `[${gap.length} blanks]`)
    .replace(/\n{5,}/g, (gap) => `[${gap.length} line ends]`);
}

/** Whether the mode asks for a fence that this machine does not have. */
function isUnfenced(mode: SandboxMode, { context, runner }: AuthorizeOptions): boolean {
  return mode !== "danger-full-access" && runner.type === "none" &&
    context.policy.enforcement === "sandbox";
}

function refuseEscalation(request: EscalationRequest, mode: SandboxMode): string | undefined {
  const { sandbox_permissions: wanted, justification } = request;
  if (wanted === undefined) {
    return justification === undefined
      ? undefined
      : "justification goes with sandbox_permissions: give both, or neither. Nothing was run";
  }
  if (justification === undefined || justification.trim() === "") {
    return "sandbox_permissions needs a justification that the user can decide on. Nothing was run";
  }
  return isWiderMode(wanted, mode)
    ? undefined
    : `sandbox_permissions must be wider than the current mode: current mode is ${mode}, ` +
      `asked for was ${wanted}. Run the command without it. Nothing was run`;
}
