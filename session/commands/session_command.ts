/** A command that is typed into a session. */
export interface SessionCommand {
  /** What follows the slash. */
  readonly name: string;
  /** One line for a person. */
  readonly description: string;
  /** What may be typed after the name. Absent: nothing. */
  readonly hint?: string;
}
