import { assertEquals } from "@std/assert";
import type { AcpClient } from "./acp_client.ts";
import { terminalOutput } from "./frames.ts";

/** Runs a command of the user's own and gives what the terminal showed. */
export async function shownBy(
  client: AcpClient,
  sessionId: string,
  command: string,
): Promise<string> {
  const from = client.frames.length - 1;
  const answered = await client.prompt(sessionId, `!${command}`);
  assertEquals(answered.type, "result");
  const updates = client.updatesOf(sessionId, from);
  const card = updates.find((update) => update["sessionUpdate"] === "tool_call");
  return terminalOutput(updates, String(card?.["toolCallId"]));
}
