/** The seam through which a tool asks the user something and waits for the answer. */

/** One answer the user can pick. */
export interface QuestionOption {
  readonly label: string;
  readonly description?: string | undefined;
}

/** One question. Without options the answer is free text. */
export interface Question {
  readonly question: string;
  /** A few words that stand above it. */
  readonly header?: string | undefined;
  /** What helps to decide. */
  readonly detail?: string | undefined;
  readonly multiSelect?: boolean | undefined;
  readonly options?: readonly QuestionOption[] | undefined;
}

/** A question put to the user of a session. */
export interface QuestionRequest {
  readonly sessionId: string;
  readonly callId: string;
  readonly question: Question;
  /** Aborts when the call is cancelled: the question is then withdrawn. */
  readonly signal: AbortSignal;
}

/** What the user said, or why there is nothing. */
export type QuestionAnswer =
  /** `custom` overrides `selected`, which is then empty. */
  | { readonly type: "answered"; readonly selected: readonly string[]; readonly custom?: string }
  /** The user does not want to answer, or said nothing until the deadline. */
  | { readonly type: "declined"; readonly reason: "user" | "deadline" }
  | { readonly type: "cancelled" }
  /** The client could not show it. */
  | { readonly type: "failed"; readonly message: string };

/** Asks the user. Never rejects. */
export interface UserInteraction {
  ask(request: QuestionRequest): Promise<QuestionAnswer>;
}
