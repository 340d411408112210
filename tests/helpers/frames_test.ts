import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { chunkText, mergeChunks, terminalOutput } from "./frames.ts";

function say(text: string, sessionUpdate = "agent_message_chunk"): JsonObject {
  return { sessionUpdate, content: { type: "text", text } };
}

function output(toolCallId: string, data: string, rest: JsonObject = {}): JsonObject {
  return {
    sessionUpdate: "tool_call_update",
    toolCallId,
    ...rest,
    _meta: { terminal_output: { terminal_id: toolCallId, data } },
  };
}

Deno.test("mergeChunks() joins chunks of one kind that follow one another", () => {
  assertEquals(
    mergeChunks([
      say("a"),
      say("b"),
      say("t", "agent_thought_chunk"),
      say("u", "agent_thought_chunk"),
      say("c"),
    ]),
    [say("ab"), say("tu", "agent_thought_chunk"), say("c")],
  );
  const image: JsonObject = { sessionUpdate: "agent_message_chunk", content: { type: "image" } };
  assertEquals(mergeChunks([image, image]), [image, image]);
});

Deno.test("mergeChunks() moves a call's output into its next other update, across other calls", () => {
  const live = [
    output("1", "a"),
    output("2", "x"),
    output("1", "b"),
    output("1", "c", { status: "completed" }),
    { sessionUpdate: "tool_call_update", toolCallId: "2", status: "failed" },
  ];
  const replay = [
    output("1", "abc", { status: "completed" }),
    output("2", "x", { status: "failed" }),
  ];
  assertEquals(mergeChunks(live), mergeChunks(replay));
  assertEquals(terminalOutput(live, "1"), "abc");
});

Deno.test("mergeChunks() keeps what differs apart", () => {
  const one = [output("1", "ab"), say("x")];
  assertEquals(mergeChunks(one), [say("x"), output("1", "ab")]);
  assertEquals(chunkText(one), "x");
});
