/** A step of the plan the model keeps. The names are those of ACP's `PlanEntry`. */
export interface TodoEntry {
  /** What is to be done. */
  readonly content: string;
  /** How much it matters. */
  readonly priority: "high" | "medium" | "low";
  /** How far it is. */
  readonly status: "pending" | "in_progress" | "completed";
}
