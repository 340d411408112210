import { assertEquals, assertStringIncludes } from "@std/assert";
import { elicitationForm, questionAnswer, supportsForms } from "../../../acp/mapper/elicitation.ts";
import type { Question } from "../../../tools/user_interaction.ts";
import { wireProblems } from "../../helpers/wire_schema.ts";
import type { JsonObject } from "../../../tools/json.ts";

const FREE: Question = { question: "What name?" };
const SINGLE: Question = {
  question: "Which database?",
  header: "Database",
  detail: "It is hard to change later.",
  options: [{ label: "Postgres", description: "A server" }, { label: "SQLite" }],
};
const MULTI: Question = { ...SINGLE, multiSelect: true };

Deno.test("elicitationForm() asks free text with one required field", () => {
  assertEquals(elicitationForm(FREE), {
    message: "What name?",
    requestedSchema: {
      type: "object",
      title: "Question",
      properties: { custom: { type: "string", title: "What name?" } },
      required: ["custom"],
    },
  });
  assertEquals(elicitationForm({ ...FREE, options: [] }), elicitationForm(FREE));
});

Deno.test("elicitationForm() offers options with their descriptions, and an optional text", () => {
  const { message, requestedSchema } = elicitationForm(SINGLE);
  assertEquals(message, "Which database?\n\nIt is hard to change later.");
  const { title, required, properties } = requestedSchema;
  assertEquals({ title, required }, { title: "Database", required: [] });
  const choices = [
    { const: "Postgres", title: "Postgres: A server" },
    { const: "SQLite", title: "SQLite" },
  ];
  assertEquals(Object.keys(properties ?? {}), ["choice", "custom"]);
  assertEquals(pick(properties?.["choice"], "type", "oneOf"), { type: "string", oneOf: choices });
  assertEquals(pick(properties?.["custom"], "type"), { type: "string" });
  const multi = elicitationForm(MULTI).requestedSchema.properties?.["choice"];
  assertEquals(pick(multi, "type", "items"), { type: "array", items: { anyOf: choices } });
});

Deno.test("elicitationForm() obeys the protocol's schema", () => {
  for (const question of [FREE, SINGLE, MULTI]) {
    const request = { mode: "form", sessionId: "s", toolCallId: "c", ...elicitationForm(question) };
    assertEquals(wireProblems("elicitation/create", "request", request as JsonObject), []);
  }
});

Deno.test("questionAnswer() reads what fits the form", () => {
  const cases: [Question, unknown, ReturnType<typeof questionAnswer>][] = [
    [FREE, { custom: "dsh" }, { type: "answered", selected: [], custom: "dsh" }],
    [SINGLE, { choice: "SQLite" }, { type: "answered", selected: ["SQLite"] }],
    [SINGLE, { choice: "SQLite", custom: " \n" }, { type: "answered", selected: ["SQLite"] }],
    [SINGLE, { choice: "SQLite", custom: null }, { type: "answered", selected: ["SQLite"] }],
    [SINGLE, { choice: "SQLite", custom: "KV" }, { type: "answered", selected: [], custom: "KV" }],
    [MULTI, { choice: ["SQLite", "Postgres", "SQLite"] }, {
      type: "answered",
      selected: ["SQLite", "Postgres"],
    }],
    [MULTI, { choice: ["SQLite"], custom: "KV" }, {
      type: "answered",
      selected: [],
      custom: "KV",
    }],
    [MULTI, { choice: [] }, { type: "answered", selected: [] }],
    [MULTI, undefined, { type: "answered", selected: [] }],
    [FREE, { custom: "  " }, { type: "declined", reason: "empty" }],
    [FREE, null, { type: "declined", reason: "empty" }],
    [SINGLE, {}, { type: "declined", reason: "empty" }],
    [SINGLE, { choice: "" }, { type: "declined", reason: "empty" }],
  ];
  for (const [question, content, expected] of cases) {
    assertEquals(questionAnswer(question, { action: "accept", content }), expected);
  }
});

Deno.test("questionAnswer() takes every other action as a refusal or a cancel", () => {
  const content = { choice: "SQLite" };
  assertEquals(questionAnswer(SINGLE, { action: "decline", content }), {
    type: "declined",
    reason: "user",
  });
  for (const action of ["cancel", "_later", "accepted", "Accept", "", 5, null, undefined]) {
    assertEquals(questionAnswer(SINGLE, { action, content }), { type: "cancelled" });
  }
});

Deno.test("questionAnswer() does not accept what was not offered, and says why", () => {
  const cases: [Question, unknown, string][] = [
    [SINGLE, { choice: "MySQL" }, `"choice" that was not offered: "MySQL"`],
    [SINGLE, { choice: "Postgres: A server" }, "was not offered"],
    [SINGLE, { choice: "constructor" }, "was not offered"],
    [SINGLE, { choice: ["SQLite"] }, "is no text"],
    [MULTI, { choice: "SQLite" }, "is no list"],
    [MULTI, { choice: ["SQLite", "MySQL"] }, `was not offered: "MySQL"`],
    [MULTI, { choice: ["SQLite", 5] }, "was not offered: 5"],
    [MULTI, { choice: ["SQLite", null] }, "was not offered: null"],
    [FREE, { custom: 5 }, `"custom" that is no text: 5`],
    [FREE, "dsh", `content that is no object: "dsh"`],
    [FREE, ["dsh"], "content that is no object"],
  ];
  for (const [question, content, problem] of cases) {
    assertFailed(questionAnswer(question, { action: "accept", content }), problem);
  }
  for (const response of [null, undefined, "accept", 5, []]) {
    assertFailed(questionAnswer(FREE, response), "is no object");
  }
  assertFailed(
    questionAnswer(SINGLE, { action: "accept", content: { choice: "x".repeat(9_999) } }),
    `${"x".repeat(199)}…`,
  );
});

Deno.test("supportsForms() wants form declared, and not null", () => {
  const declared: [JsonObject, boolean][] = [
    [{}, false],
    [{ elicitation: null }, false],
    [{ elicitation: {} }, false],
    [{ elicitation: { form: null } }, false],
    [{ elicitation: { url: {} } }, false],
    [{ elicitation: { form: {} } }, true],
    [{ elicitation: { form: {}, url: {} } }, true],
  ];
  for (const [capabilities, expected] of declared) {
    assertEquals(supportsForms(capabilities), expected, JSON.stringify(capabilities));
  }
  assertEquals(supportsForms(undefined), false);
});

function assertFailed(answer: ReturnType<typeof questionAnswer>, problem: string): void {
  assertEquals(answer.type, "failed");
  if (answer.type === "failed") assertStringIncludes(answer.message, problem);
}

function pick(value: unknown, ...keys: readonly string[]): Record<string, unknown> {
  const all = value as Record<string, unknown>;
  return Object.fromEntries(keys.map((key) => [key, all[key]]));
}
