/** MCP servers that send too much, or what nobody can use: nothing hangs, nothing grows for ever. */
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { chunkText } from "../helpers/frames.ts";
import { fixtureServer } from "../helpers/mcp_fixture.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { cardOf, toolResults } from "../helpers/permission_desk.ts";
import { processesLeft } from "../helpers/processes.ts";
import { startAgent } from "../helpers/start_agent.ts";

const ignore = Deno.build.os === "windows";

function results(model: ModelServer): Record<string, string> {
  return toolResults(model.requests.at(-1)?.body ?? {});
}

/** The functions that the last request offered, by name. */
function offered(model: ModelServer): Map<string, JsonObject> {
  const tools = (model.requests.at(-1)?.body["tools"] ?? []) as JsonObject[];
  return new Map(
    tools.map((tool) => tool["function"] as JsonObject).map((one) => [String(one["name"]), one]),
  );
}

Deno.test({
  name: "long results keep head and tail with the count, and images a common limit",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([
      answer(
        call("t", "mcp__s__text", { length: 100_000 }),
        call("i", "mcp__s__images", { data: [4_000, 5 * 1024 * 1024, 8] }),
        call("b", "mcp__s__images", { data: [8], mimeType: 'image/png"><' }),
        call("v", "mcp__s__images", { data: [8], mimeType: "image/svg+xml" }),
        call("w", "mcp__s__images", { data: [7] }),
        call("n", "mcp__s__items", { count: 5_000 }),
        call("u", "mcp__s__unknown", {}),
        call("e", "mcp__s__error", {}),
        call("l", "mcp__s__line", { length: 1_000_000 }),
        call("d", "mcp__s__nested", {}),
      ),
      answer(text("Done.")),
    ]);
    await using agent = await startAgent({ model });
    const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s")] });
    await agent.client.prompt(sessionId, "go");
    const { t = "", b, v, w, n = "", u, e = "", l, d } = results(model);
    assert(t.startsWith("HEAD-") && t.endsWith("-TAIL"), t.slice(0, 100));
    assertStringIncludes(t, "[70008 characters left out]");
    assertLess(t.length, 30_100);
    const card = JSON.stringify(cardOf(agent.client, "i"));
    assertEquals(card.split('"type":"image"').length - 1, 2);
    assertStringIncludes(card, "left out, since images may have 5242880 characters together");
    assertStringIncludes(b ?? "", "left out, since models take image/png, ");
    assertStringIncludes(v ?? "", "image/svg+xml: left out, since models take image/png, ");
    assertStringIncludes(w ?? "", "left out, since it is not valid base64");
    assertStringIncludes(n, "4900 items left out");
    assertLess(n.length, 10_000);
    assertEquals(u, "Error: The server's result is not one that the protocol knows");
    assertStringIncludes(e, "[70");
    assertLess(e.length, 30_200);
    assertEquals(l, "after the line");
    assertStringIncludes(d ?? "", "characters left out]");
  },
});

Deno.test({
  name:
    "of 10,000 tools, and of a list that does not end, only so many are offered, and that is said",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([answer(text("Done."))]);
    await using agent = await startAgent({ model });
    const sessionId = await agent.newSession({
      mcpServers: [
        fixtureServer("a", "many"),
        fixtureServer("b", "many"),
        fixtureServer("c", "pages"),
      ],
    });
    await agent.client.prompt(sessionId, "go");
    const own = [...offered(model).keys()].filter((name) => name.startsWith("mcp__"));
    assertEquals(own.length, 112);
    const said = chunkText(agent.client.updatesOf(sessionId));
    for (const [name, count] of [["[ab]", 112], ["[ab]", 0], ["c", 0]] as const) {
      assertMatch(said, new RegExp(`"${name}": it offers more tools than .*, so ${count} are`));
    }
  },
});

Deno.test({
  name: "odd tools are called, those that no model could be told of are left out",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([answer(text("Done."))]);
    await using agent = await startAgent({ model });
    const sessionId = await agent.newSession({
      mcpServers: [fixtureServer("my 🚀 server", "odd"), fixtureServer("my 🚀 server")],
    });
    await agent.client.prompt(sessionId, "go");
    const own = [...offered(model)].filter(([name]) => name.startsWith("mcp__"));
    assertEquals(own.length, 2);
    assertLess(String(own[0]?.[1]["description"]).length, 4_100);
    assertEquals(own[0]?.[1]["parameters"], { type: "object", properties: {} });
    const said = chunkText(agent.client.updatesOf(sessionId));
    assertStringIncludes(said, "a tool was left out: its name is not of 1 to 128 characters");
    assertStringIncludes(said, 'its tool "none" was left out: its input schema is not one of');
    assertStringIncludes(said, "4 more of its tools were left out");
    assertStringIncludes(said, "was not connected: another one has the same name");
  },
});

Deno.test({
  name: "a call that brings a line of 50 MB fails, and the session goes on",
  ignore,
  fn: async () => {
    await using model = ModelServer.start([
      answer(call("l", "mcp__s__line", { length: 50_000_000 })),
      answer(text("It was too much.")),
      answer(text("Still here.")),
    ]);
    await using agent = await startAgent({ model });
    const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s")] });
    await agent.client.prompt(sessionId, "go");
    assertStringIncludes(results(model)["l"] ?? "", "Error: ");
    await agent.client.prompt(sessionId, "on");
    const said = chunkText(agent.client.updatesOf(sessionId));
    assertStringIncludes(said, "ended (it sent a line of more than 33554432 characters)");
    assertStringIncludes(said, "Still here.");
  },
});

for (
  const [mode, reason] of [
    ["endless", "it sent a line of more than"],
    ["deaf", "it does not read what it is sent"],
  ] as const
) {
  Deno.test({
    name: `a server that is ${mode} is ended, and the session goes on`,
    ignore,
    fn: async () => {
      const mark = crypto.randomUUID();
      await using model = ModelServer.start([answer(text("Hello.")), answer(text("Again."))]);
      await using agent = await startAgent({ model });
      const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s", mode, mark)] });
      await agent.client.prompt(sessionId, "go");
      const { client } = agent;
      const said = () => chunkText(client.updatesOf(sessionId));
      assertStringIncludes(said(), reason);
      assertEquals(await processesLeft(mark), []);
    },
  });
}

Deno.test({
  name: "a server that floods stderr is served, with and without a debug log",
  ignore,
  fn: async () => {
    for (const DSH_LOG of [undefined, "debug"]) {
      await using model = ModelServer.start([
        answer(call("t", "mcp__s__text", { length: 1 })),
        answer(text("Done.")),
      ]);
      await using agent = await startAgent({ model, env: { DSH_LOG } });
      const sessionId = await agent.newSession({ mcpServers: [fixtureServer("s", "loud")] });
      await agent.client.prompt(sessionId, "go");
      assertEquals(results(model)["t"], "HEAD-TAIL");
    }
  },
});
