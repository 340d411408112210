/** The bounds of one turn. */

/** Bounds of one turn. */
export interface TurnLimits {
  /** Model requests in one turn, retries not counted. */
  readonly maxSteps: number;
  /** Attempts of one model request, the first included. */
  readonly maxAttempts: number;
  /** How long a cancelled call may take to end before it is abandoned, in milliseconds. */
  readonly abandonAfterMs: number;
}

/** The defaults. A cancelled prompt must be answered within 2 s, an abandoned call included. */
export const DEFAULT_LIMITS: TurnLimits = {
  maxSteps: 200,
  maxAttempts: 3,
  abandonAfterMs: 1_700,
};
