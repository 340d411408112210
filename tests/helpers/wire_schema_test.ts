import { assertEquals, assertStringIncludes } from "@std/assert";
import { errorProblems, wireProblems } from "./wire_schema.ts";
import type { JsonObject } from "../../tools/json.ts";

function update(update: JsonObject): string[] {
  return wireProblems("session/update", "notification", { sessionId: "s", update });
}

const FORM = {
  mode: "form",
  message: "Which?",
  sessionId: "s",
  toolCallId: "c",
  requestedSchema: {
    type: "object",
    title: "Question",
    properties: {
      choice: { type: "string", title: "Which?", oneOf: [{ const: "a", title: "A" }] },
      choices: { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
    },
    required: [],
  },
};

Deno.test("wireProblems() accepts what the protocol allows", () => {
  const valid: JsonObject[] = [
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } },
    {
      sessionUpdate: "tool_call",
      toolCallId: "c",
      title: "ls",
      kind: "execute",
      status: "in_progress",
      rawInput: { any: [1, { thing: true }] },
      content: [{ type: "terminal", terminalId: "t" }, {
        type: "content",
        content: { type: "text", text: "x" },
      }],
      locations: [{ path: "/a", line: 1 }],
      _meta: { terminal_info: { terminal_id: "t", cwd: "/" } },
    },
    { sessionUpdate: "tool_call_update", toolCallId: "c", status: null },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "c",
      content: [{ type: "diff", path: "/a", oldText: null, newText: "x" }],
    },
    { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 0.1, currency: "USD" } },
    { sessionUpdate: "session_info_update", title: "t", updatedAt: null },
    { sessionUpdate: "plan", entries: [{ content: "x", priority: "high", status: "pending" }] },
  ];
  for (const one of valid) assertEquals(update(one), []);
  assertEquals(wireProblems("session/prompt", "response", { stopReason: "end_turn" }), []);
  assertEquals(wireProblems("session/close", "response", {}), []);
  assertEquals(
    wireProblems("initialize", "response", {
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, close: {} } },
      agentInfo: { name: "a", version: "1" },
      authMethods: [],
    }),
    [],
  );
  const select = { id: "m", name: "M", type: "select", currentValue: "a", category: "model" };
  assertEquals(
    wireProblems("session/new", "response", {
      sessionId: "s",
      configOptions: [
        { ...select, options: [{ value: "a", name: "A" }] },
        { ...select, options: [{ group: "g", name: "G", options: [{ value: "a", name: "A" }] }] },
      ],
    }),
    [],
  );
  assertEquals(
    wireProblems("session/request_permission", "request", {
      sessionId: "s",
      toolCall: { toolCallId: "c" },
      options: [{ optionId: "o", name: "Allow", kind: "allow_once" }],
    }),
    [],
  );
  assertEquals(wireProblems("elicitation/create", "request", FORM), []);
  assertEquals(wireProblems("_own/method", "notification", { x: 1 }), []);
  assertEquals(errorProblems({ code: -32602, message: "m", data: { a: 1 } }), []);
});

Deno.test("wireProblems() names what is wrong and where", () => {
  const invalid: [JsonObject, string][] = [
    [{ sessionUpdate: "agent_message_chunk" }, `"content" is missing`],
    [
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: 5 } },
      "$.update.content.text: 5 is not of type string",
    ],
    [{ sessionUpdate: "tool_call", toolCallId: "c" }, `$.update: "title" is missing`],
    [{ sessionUpdate: "tool_call_update", toolCallId: "c", status: "done" }, "$.update.status"],
    [{ sessionUpdate: "tool_call_update", toolCallId: "c", kind: "bash" }, "$.update.kind"],
    [{ sessionUpdate: "tool_call_update", toolCallId: "c", colour: "red" }, `unknown key "colour"`],
    [
      { sessionUpdate: "tool_call_update", toolCallId: "c", locations: [{ path: "/a", line: -1 }] },
      "-1 < 0",
    ],
    [
      { sessionUpdate: "tool_call_update", toolCallId: "c", content: [{ type: "terminal" }] },
      "terminalId",
    ],
    [{ sessionUpdate: "no_such_update" }, "$.update.sessionUpdate"],
  ];
  for (const [one, problem] of invalid) assertStringIncludes(update(one).join("\n"), problem);
  const prompt = (result: JsonObject) => wireProblems("session/prompt", "response", result);
  assertStringIncludes(prompt({ stopReason: "weird" }).join("\n"), "$.stopReason");
  assertStringIncludes(prompt({}).join("\n"), `"stopReason" is missing`);
  assertStringIncludes(
    wireProblems("session/update", "notification", { sessionId: 5, update: {} }).join("\n"),
    "$.sessionId: 5 is not of type string",
  );
  // A known mode or type that is malformed is no custom one.
  const form = (change: JsonObject) =>
    wireProblems("elicitation/create", "request", { ...FORM, ...change }).join("\n");
  assertStringIncludes(form({ requestedSchema: 5 }), "$.requestedSchema");
  assertStringIncludes(form({ sessionId: 5 }), "$.sessionId");
  const property = (change: JsonObject) =>
    form({ requestedSchema: { type: "object", properties: { choice: change } } });
  assertStringIncludes(property({ type: "string", oneOf: [{ const: "a" }] }), "title");
  assertStringIncludes(property({ type: "array" }), "items");
  assertStringIncludes(wireProblems("session/nope", "request", {}).join("\n"), "session/nope");
  assertStringIncludes(errorProblems({ code: "x" }).join("\n"), `"message" is missing`);
});
