import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { modelCatalogue } from "../../../session/model/catalogue.ts";
import {
  type CatalogueConfig,
  catalogueConfigFromEnv,
  type CatalogueFlags,
  type Environment,
} from "../../../session/model/catalogue_config.ts";
import { ModelServer } from "../../helpers/model_server.ts";
import { answer, text } from "../../helpers/model_turn.ts";
import { ask } from "./_ask.ts";

const SECRET = "sk-very-secret-value-1";

function configOf(env: Environment, flags?: CatalogueFlags): CatalogueConfig {
  const result = catalogueConfigFromEnv(env, flags);
  if (result.type === "invalid") throw new Error(result.problems.join("\n"));
  return result.config;
}

function problemsOf(env: Environment, flags?: CatalogueFlags): readonly string[] {
  const result = catalogueConfigFromEnv(env, flags);
  return result.type === "invalid" ? result.problems : [];
}

function namesOf({ models }: CatalogueConfig): string[] {
  return models.map(({ provider, model }) => `${provider}/${model}`);
}

Deno.test("catalogueConfigFromEnv() offers nothing and no default without variables", () => {
  for (const env of [{}, { DEEPSEEK_API_KEY: "", OPENAI_BASE_URL: "  ", DSH_MODEL: "" }]) {
    const config = configOf(env);
    assertEquals(config.models, []);
    assertEquals(config.defaultModel, undefined);
  }
});

Deno.test("catalogueConfigFromEnv() offers the known models of the providers with a key", () => {
  const config = configOf({ DEEPSEEK_API_KEY: SECRET });
  assertEquals(namesOf(config), ["deepseek/deepseek-v4-flash", "deepseek/deepseek-v4-pro"]);
  assertEquals(config.defaultModel, { provider: "deepseek", model: "deepseek-v4-flash" });
  assertEquals(config.models.map(({ contextWindow }) => contextWindow), [1_000_000, 1_000_000]);
  assertEquals(config.models[0]?.reasoningEfforts, ["high", "max"]);
  const both = configOf({ ANTHROPIC_API_KEY: SECRET, DEEPSEEK_API_KEY: SECRET });
  assertEquals(both.defaultModel?.provider, "deepseek");
  assertEquals(configOf({ ANTHROPIC_API_KEY: SECRET }).defaultModel?.provider, "anthropic");
});

Deno.test("catalogueConfigFromEnv() adds named models and takes the first named one as default", () => {
  const env = {
    DEEPSEEK_API_KEY: SECRET,
    OPENAI_BASE_URL: "http://localhost:11434/v1/",
    DSH_MODEL: "openai/anthropic/claude-x",
    DSH_MODELS: " openai/qwen3:8b, deepseek/deepseek-v4-pro ,,openai/qwen3:8b",
  };
  const config = configOf(env);
  assertEquals(namesOf(config), [
    "deepseek/deepseek-v4-flash",
    "deepseek/deepseek-v4-pro",
    "openai/anthropic/claude-x",
    "openai/qwen3:8b",
  ]);
  assertEquals(config.defaultModel, { provider: "openai", model: "anthropic/claude-x" });
  assertEquals(config.providers.openai.baseUrl, "http://localhost:11434/v1");
  const flagged = configOf(env, { model: "deepseek/deepseek-v4-pro" });
  assertEquals(flagged.defaultModel, { provider: "deepseek", model: "deepseek-v4-pro" });
});

Deno.test("catalogueConfigFromEnv() takes the default from DSH_MODELS only for want of another", () => {
  const DSH_MODELS = "anthropic/claude-x,openai/llama";
  const local = configOf({ OPENAI_BASE_URL: "http://localhost:1/v1", DSH_MODELS });
  assertEquals(local.defaultModel, { provider: "openai", model: "llama" });
  assertEquals(configOf({ DSH_MODELS }).defaultModel?.provider, "anthropic");
  assertEquals(
    configOf({ DEEPSEEK_API_KEY: SECRET, DSH_MODELS }).defaultModel?.provider,
    "deepseek",
  );
});

Deno.test("catalogueConfigFromEnv() takes Anthropic's base URL with and without the version", () => {
  for (const url of ["https://proxy.example/x", "https://proxy.example/x/v1/"]) {
    const config = configOf({ ANTHROPIC_BASE_URL: url });
    assertEquals(config.providers.anthropic.baseUrl, "https://proxy.example/x/v1");
  }
});

Deno.test("catalogueConfigFromEnv() takes facts of a model, which win over what is known", () => {
  const { models } = configOf({
    ANTHROPIC_API_KEY: SECRET,
    OPENAI_BASE_URL: "http://localhost:1/v1",
    DSH_MODELS: "openai/org/qwen:8b?window=32768&images=yes&input=0&output=0.8&cached=0.02," +
      "anthropic/claude-sonnet-5-5?images=no",
  });
  assertEquals(models.find(({ model }) => model === "org/qwen:8b"), {
    provider: "openai",
    model: "org/qwen:8b",
    name: "org/qwen:8b",
    contextWindow: 32_768,
    images: true,
    price: { input: 0, output: 0.8, cacheRead: 0.02 },
  });
  const sonnet = models.find(({ model }) => model === "claude-sonnet-5-5");
  assertEquals([sonnet?.images, sonnet?.contextWindow, sonnet?.price?.input], [
    false,
    1_000_000,
    2,
  ]);
  assertEquals(configOf({}, { model: "openai/x?window=500" }).models[0]?.contextWindow, 500);
});

Deno.test("catalogueConfigFromEnv() knows no price of a server at another address", () => {
  const priced = (env: Environment) =>
    configOf({ ANTHROPIC_API_KEY: SECRET, ...env }).models.filter(({ price }) => price).length;
  assertEquals(priced({}), 2);
  assertEquals(priced({ ANTHROPIC_BASE_URL: "https://api.anthropic.com" }), 2);
  assertEquals(priced({ ANTHROPIC_BASE_URL: "https://proxy.example" }), 0);
  const DSH_MODELS = "anthropic/claude-opus-5-5?input=1&output=2";
  assertEquals(priced({ ANTHROPIC_BASE_URL: "https://proxy.example", DSH_MODELS }), 1);
});

const BAD: readonly (readonly [Environment, CatalogueFlags, readonly string[], string?])[] = [
  [{ DSH_MODEL: "deepseek-v4-pro" }, {}, ["DSH_MODEL", "provider/model", '"deepseek-v4-pro"']],
  [{ DSH_MODEL: "mistral/large" }, {}, ["DSH_MODEL", "deepseek, anthropic, openai"]],
  [{ DSH_MODEL: "openai/" }, {}, ["DSH_MODEL", '"openai/"']],
  [{}, { model: "" }, ["--model", '""']],
  [{}, { model: "toString/x" }, ["--model", '"toString/x"']],
  [{ DSH_MODELS: "openai/a,b" }, {}, ["DSH_MODELS", '"b"']],
  [{ DSH_CONTEXT_WINDOW: "32k" }, {}, ["DSH_CONTEXT_WINDOW", "tokens", '"32k"']],
  [{ DSH_MODELS: "openai/a?size=1" }, {}, ["DSH_MODELS", "openai/a", '"size"']],
  [{ DSH_MODELS: "openai/a?window=4k" }, {}, ["openai/a", "window", '"4k"']],
  [{ DSH_MODELS: "openai/a?images=true" }, {}, ["openai/a", "images", "yes or no", '"true"']],
  [{ DSH_MODELS: "openai/a?input=1&output=-1" }, {}, ["output", "dollars", '"-1"']],
  [{ DSH_MODELS: "openai/a?input=1" }, {}, ["input", "output", "together", '"input=1"']],
  [{ DSH_MODELS: "openai/a?cached=1" }, {}, ["cached", "together", '"cached=1"']],
  [{ OPENAI_BASE_URL: "localhost:11434" }, {}, ["OPENAI_BASE_URL", "http", "localhost:11434"]],
  [{ OPENAI_BASE_URL: "not a url" }, {}, ["OPENAI_BASE_URL", "not a url"]],
  [
    { DEEPSEEK_BASE_URL: "https://me:hunter2@host/v1" },
    {},
    ["DEEPSEEK_BASE_URL", "user name", "https://[hidden]@host/v1"],
    "hunter2",
  ],
  [
    { OPENAI_BASE_URL: "https://host/v1?key=hunter2" },
    {},
    ["OPENAI_BASE_URL", "query", '"https://host/v1"'],
    "hunter2",
  ],
  [{ DEEPSEEK_API_KEY: "sk-hunter2\nx" }, {}, ["DEEPSEEK_API_KEY", "printable"], "hunter2"],
];

Deno.test("catalogueConfigFromEnv() names variable, rule and value of what it cannot use", () => {
  for (const [env, flags, words, secret] of BAD) {
    const [problem, ...more] = problemsOf(env, flags);
    assertEquals(more, []);
    assert(problem !== undefined, JSON.stringify(env));
    for (const word of ["Cannot use ", "current value is ", ...words]) {
      assertStringIncludes(problem, word);
    }
    if (secret) assert(!problem.includes(secret), problem);
  }
});

Deno.test("catalogueConfigFromEnv() reports every problem at once", () => {
  assertEquals(problemsOf({ DSH_MODEL: "x", DSH_MODELS: "y", OPENAI_BASE_URL: "z" }).length, 3);
});

Deno.test("resolve() says which variables to set when there is no model", async () => {
  const result = await modelCatalogue(configOf({})).resolve(undefined);
  assert(result.type === "unavailable");
  assertEquals(result.code, "no_model");
  for (const word of ["DEEPSEEK_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "DSH_MODEL"]) {
    assertStringIncludes(result.message, word);
  }
});

Deno.test("resolve() names the variable of the key that is missing", async () => {
  const cases = [
    ["deepseek/deepseek-v4-pro", "DEEPSEEK_API_KEY"],
    ["anthropic/claude-x", "ANTHROPIC_API_KEY"],
    ["openai/gpt-x", "OPENAI_API_KEY"],
  ] as const;
  for (const [model, variable] of cases) {
    const config = configOf({}, { model });
    assertEquals(namesOf(config), [model]);
    const result = await modelCatalogue(config).resolve(undefined);
    assert(result.type === "unavailable");
    assertEquals(result.code, "auth");
    assertStringIncludes(result.message, variable);
    assertStringIncludes(result.message, model);
  }
});

Deno.test("resolve() refuses a provider there is not", async () => {
  const catalogue = modelCatalogue(configOf({ DEEPSEEK_API_KEY: SECRET }));
  for (const provider of ["mistral", "constructor", ""]) {
    const result = await catalogue.resolve({ provider, model: "x" });
    assertEquals(result.type === "unavailable" && result.code, "no_model");
  }
});

Deno.test("resolve() gives a model that asks the configured server", async () => {
  await using server = ModelServer.start([answer(text("hi"))]);
  const catalogue = modelCatalogue(
    configOf({ OPENAI_BASE_URL: server.url }, { model: "openai/org/llama:8b" }),
  );
  const result = await catalogue.resolve(undefined);
  assert(result.type === "ready");
  assertEquals((await ask(result.model)).map(({ type }) => type), ["text", "finish"]);
  const { body, headers, path } = await server.request(0);
  assertEquals([body.model, path], ["org/llama:8b", "/v1/chat/completions"]);
  assertEquals(headers.get("authorization"), null);
});

Deno.test("resolve() gives a model that is not in the list, as an older session may name one", async () => {
  const catalogue = modelCatalogue(configOf({ DEEPSEEK_API_KEY: SECRET }));
  const result = await catalogue.resolve({ provider: "deepseek", model: "deepseek-old" });
  assertEquals(result.type === "ready" && result.model.info, {
    provider: "deepseek",
    model: "deepseek-old",
    name: "deepseek-old",
  });
});

Deno.test("no key shows in what can be printed of a configuration, a catalogue or a model", async () => {
  await using server = ModelServer.start([answer(text("hi"))]);
  const config = configOf({ DEEPSEEK_API_KEY: SECRET, DEEPSEEK_BASE_URL: server.url });
  const catalogue = modelCatalogue(config);
  const result = await catalogue.resolve(undefined);
  assert(result.type === "ready");
  await ask(result.model);
  assertEquals(server.requests[0]?.headers.get("authorization"), `Bearer ${SECRET}`);
  for (const value of [config, catalogue, result, result.model, config.providers.deepseek.key]) {
    const inspected = Deno.inspect(value, { depth: 100, showHidden: true, getters: true });
    const structured = JSON.stringify(value);
    for (const shown of [inspected, structured, String(value)]) {
      assert(!shown.includes("very-secret"), shown);
    }
  }
});
