/** What a check of the program's surroundings found, as one line. */

/** `fail` keeps the agent from working; `warn` leaves something out. */
export type Level = "ok" | "warn" | "fail";

/** One finding. */
export interface Finding {
  readonly level: Level;
  /** What was looked at, in one word. */
  readonly name: string;
  /** What was found, then what to do about it. */
  readonly text: string;
}

/** The finding as a line: no control character of a path or a server can draw on the screen. */
export function renderFinding({ level, name, text }: Finding): string {
  // deno-lint-ignore no-control-regex
  const shown = text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ");
  return `${level.padEnd(5)} ${name.padEnd(12)} ${shown}\n`;
}

/** Runs a check. One that takes too long, or throws, is a finding too. */
export async function withDeadline(
  name: string,
  timeoutMs: number,
  check: () => Promise<Finding>,
): Promise<Finding> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(
      () => resolve({ level: "fail", name, text: `no result within ${timeoutMs / 1_000} s` }),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return { level: "fail", name, text: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
