import { assertEquals, assertStringIncludes } from "@std/assert";
import { type AskUserQuestionOptions, askUserQuestionTool } from "../../tools/ask_user_question.ts";
import type { JsonObject } from "../../tools/json.ts";
import type { ToolResult } from "../../tools/tool.ts";
import { ToolRegistry } from "../../tools/tool_registry.ts";
import type {
  QuestionAnswer,
  QuestionRequest,
  UserInteraction,
} from "../../tools/user_interaction.ts";

const NAME = "ask_user_question";
const WHICH = { question: "Which?", options: [{ label: "A" }, { label: "B", description: "b" }] };

interface Asked {
  readonly registry: ToolRegistry;
  readonly asked: QuestionRequest[];
  run(args: JsonObject, signal?: AbortSignal): Promise<ToolResult>;
}

function setUp(
  answer: (request: QuestionRequest) => QuestionAnswer | Promise<QuestionAnswer>,
  options?: AskUserQuestionOptions,
): Asked {
  const asked: QuestionRequest[] = [];
  const interaction: UserInteraction = {
    ask(request) {
      asked.push(request);
      return Promise.resolve(answer(request));
    },
  };
  const registry = new ToolRegistry().register(askUserQuestionTool(interaction, options));
  return {
    registry,
    asked,
    run: (args, signal = new AbortController().signal) => {
      const prepared = registry.prepare(NAME, JSON.stringify(args));
      if (prepared.type === "invalid") return Promise.resolve(prepared.result);
      return prepared.call.execute({
        sessionId: "session",
        callId: "call",
        cwd: "/",
        signal,
        policy: {
          mode: "read-only",
          writableRoots: [],
          protectedPaths: [],
          network: "off",
          enforcement: "sandbox",
        },
        output: () => {},
      });
    },
  };
}

function textOf({ content }: ToolResult): string {
  return content.map((part) => part.type === "text" ? part.text : "").join("|");
}

Deno.test("ask_user_question gives the model one block per question, in words of its own", async () => {
  const cases: [QuestionAnswer, string, boolean][] = [
    [{ type: "answered", selected: ["A"] }, `The user chose: "A"`, false],
    [{ type: "answered", selected: ["A", "B"] }, `The user chose: "A", "B"`, false],
    [{ type: "answered", selected: [] }, "The user chose none of the options", false],
    [{ type: "answered", selected: [], custom: "C" }, "The user wrote: C", false],
    [{ type: "declined", reason: "user" }, "The user declined", false],
    [{ type: "declined", reason: "empty" }, "sent the form without choosing", false],
    [{ type: "declined", reason: "deadline" }, "did not answer in time", true],
    [{ type: "cancelled" }, "was dismissed", true],
    [{ type: "failed", message: "no screen" }, "No answer could be had: no screen", true],
  ];
  for (const [answer, words, isError] of cases) {
    const { run } = setUp(() => answer);
    const result = await run({ questions: [WHICH] });
    assertStringIncludes(textOf(result), `Question: Which?\n`);
    assertStringIncludes(textOf(result), words);
    assertEquals(result.isError, isError, words);
    assertEquals(textOf(result).startsWith("Error: "), isError, words);
  }
});

Deno.test("ask_user_question asks in order, each question once", async () => {
  const { run, asked } = setUp(({ question }) => ({
    type: "answered",
    selected: [],
    custom: question.question.toUpperCase(),
  }));
  const result = await run({ questions: [{ question: "one" }, { question: "two" }] });
  assertEquals(
    textOf(result),
    "Question 1 of 2: one\nThe user wrote: ONE\n\nQuestion 2 of 2: two\nThe user wrote: TWO",
  );
  assertEquals(asked.map(({ callId, sessionId }) => [sessionId, callId]), [
    ["session", "call"],
    ["session", "call"],
  ]);
});

Deno.test("ask_user_question goes on after a refusal, and stops where nobody answers", async () => {
  const refused: QuestionAnswer = { type: "declined", reason: "user" };
  const silent: QuestionAnswer = { type: "declined", reason: "deadline" };
  const cases: [QuestionAnswer, number][] = [
    [refused, 2],
    [{ type: "declined", reason: "empty" }, 2],
    [silent, 1],
    [{ type: "cancelled" }, 1],
    [{ type: "failed", message: "x" }, 1],
  ];
  for (const [answer, count] of cases) {
    const { run, asked } = setUp(() => answer);
    const result = await run({ questions: [{ question: "one" }, { question: "two" }] });
    assertEquals(asked.length, count, JSON.stringify(answer));
    assertEquals(textOf(result).includes("Not asked"), count === 1);
  }
});

Deno.test("ask_user_question ends a mute user in a decline, and withdraws the question", async () => {
  const delays: number[] = [];
  let fire = () => {};
  let stopped = 0;
  const { run, asked } = setUp(() => {
    queueMicrotask(() => fire());
    return new Promise<never>(() => {});
  }, {
    startTimer: (callback, delayMs) => {
      delays.push(delayMs);
      fire = callback;
      return () => stopped++;
    },
  });
  const result = await run({ questions: [WHICH] });
  assertStringIncludes(textOf(result), "did not answer in time");
  assertEquals({ delays, stopped, withdrawn: asked[0]!.signal.aborted }, {
    delays: [600_000],
    stopped: 1,
    withdrawn: true,
  });
});

Deno.test("ask_user_question withdraws the question of a cancelled call", async () => {
  const turn = new AbortController();
  const { run, asked } = setUp(() => {
    queueMicrotask(() => turn.abort());
    return new Promise<never>(() => {});
  });
  const result = await run({ questions: [WHICH, WHICH] }, turn.signal);
  assertEquals(result.isError, true);
  assertEquals(asked.map(({ signal }) => signal.aborted), [true]);
  await run({ questions: [WHICH] }, turn.signal);
  assertEquals(asked.length, 1, "a cancelled call asks nothing");
});

Deno.test("ask_user_question survives an interaction that throws", async () => {
  const { run } = setUp(() => Promise.reject(new Error("broken")));
  assertStringIncludes(textOf(await run({ questions: [WHICH] })), "No answer could be had: broken");
});

Deno.test("ask_user_question refuses arguments that make no question", async () => {
  const { run, asked } = setUp(() => ({ type: "cancelled" }));
  const invalid: JsonObject[] = [
    {},
    { questions: [] },
    { questions: [{ question: " " }] },
    { questions: [{ question: "?", options: [{ label: "" }] }] },
    { questions: [{ question: "?", options: [{ label: "A" }, { label: "A" }] }] },
    { questions: Array.from({ length: 9 }, () => WHICH) },
    { questions: [{ question: "?", options: many(25) }] },
    { questions: [{ question: "?".repeat(2_001) }] },
  ];
  for (const args of invalid) {
    const result = await run(args);
    assertStringIncludes(textOf(result), "arguments of ask_user_question are invalid");
    assertEquals(result.isError, true);
  }
  assertEquals(asked, []);
  await run({ questions: Array.from({ length: 8 }, () => ({ question: "?", options: many(24) })) });
  assertEquals(asked.length, 1);
});

Deno.test("ask_user_question presents the question, then the answers", async () => {
  const { run, registry } = setUp(({ question }) =>
    question.options
      ? { type: "answered", selected: ["A", "B"] }
      : { type: "declined", reason: "user" }
  );
  const one = JSON.stringify({ questions: [WHICH] });
  assertEquals(registry.presentCall(NAME, one), {
    type: "generic",
    title: "Which?",
    kind: "other",
  });
  const args = { questions: [WHICH, { question: "Why?" }] };
  const raw = JSON.stringify(args);
  assertEquals(registry.presentCall(NAME, raw).title, "Ask 2 questions");
  const result = await run(args);
  assertEquals(registry.presentResult(NAME, raw, result), {
    type: "generic",
    content: [{ type: "text", text: "Which?\n\n→ A, B\n\nWhy?\n\n→ (declined)" }],
  });
  const { meta: _, ...foreign } = result;
  assertEquals(registry.presentResult(NAME, raw, foreign), { type: "generic" });
});

Deno.test("ask_user_question shows the first line of a long question as its title", () => {
  const { registry } = setUp(() => ({ type: "cancelled" }));
  const title = (question: string) =>
    registry.presentCall(NAME, JSON.stringify({ questions: [{ question }] })).title;
  assertEquals(title("one\ntwo"), "one");
  assertEquals(title("😀".repeat(130)), `${"😀".repeat(120)}…`);
});

function many(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, index) => ({ label: `L${index}` }));
}
