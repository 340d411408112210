/** The seam through which a tool asks the user something and waits for the answer. */

/** One answer the user can pick. */
export interface QuestionOption {
  /** What is shown, and what comes back when it is picked. */
  readonly label: string;
  /** One sentence on what it means. */
  readonly description?: string | undefined;
}

/** One question. Without options the answer is free text. */
export interface Question {
  /** The question itself. */
  readonly question: string;
  /** A few words that stand above it. */
  readonly header?: string | undefined;
  /** What helps to decide. */
  readonly detail?: string | undefined;
  /**
   * Whether more than one option can be picked.
   *
   * @default {false}
   */
  readonly multiSelect?: boolean | undefined;
  /** What can be picked. Absent: free text. */
  readonly options?: readonly QuestionOption[] | undefined;
}

/** A question put to the user of a session. */
export interface QuestionRequest {
  /** The session the call belongs to. */
  readonly sessionId: string;
  /** The call that asks. */
  readonly callId: string;
  /** What to ask. */
  readonly question: Question;
  /** Aborts when the call is cancelled: the question is then withdrawn. */
  readonly signal: AbortSignal;
}

/** What the user said, or why there is nothing. */
export type QuestionAnswer =
  /** `custom` overrides `selected`, which is then empty. */
  | { readonly type: "answered"; readonly selected: readonly string[]; readonly custom?: string }
  /** The user does not want to answer, sent an empty form, or said nothing until the deadline. */
  | { readonly type: "declined"; readonly reason: "user" | "empty" | "deadline" }
  /** The user dismissed the question, or the call was cancelled. */
  | { readonly type: "cancelled" }
  /** The client could not show it, or what it sent is no answer to it. */
  | { readonly type: "failed"; readonly message: string };

/** Asks the user. Never rejects. */
export interface UserInteraction {
  /** Asks one question and waits. */
  ask(request: QuestionRequest): Promise<QuestionAnswer>;
}
