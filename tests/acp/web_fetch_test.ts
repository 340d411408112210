import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../tools/json.ts";
import { member } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, call, text } from "../helpers/model_turn.ts";
import { cardOf, PermissionDesk, toolResults } from "../helpers/permission_desk.ts";
import { startAgent } from "../helpers/start_agent.ts";

function toolNames(model: ModelServer): unknown[] {
  return (model.requests[0]!.body["tools"] as JsonObject[])
    .map((tool) => member(tool, "function")["name"]);
}

Deno.test("web_fetch asks once for each host, and a page is shown fenced", async () => {
  await using site = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("<h1>Hi</h1>", { headers: { "content-type": "text/html" } }),
  );
  const url = `http://127.0.0.1:${site.addr.port}/a`;
  await using model = ModelServer.start([
    answer(call("one", "web_fetch", { url })),
    answer(call("two", "web_fetch", { url: `${url}/b` })),
    answer(text("Read.")),
  ]);
  await using agent = await startAgent({ model, env: { DSH_WEB_FETCH: "any" } });
  const desk = new PermissionDesk(agent.client, "allow-always");
  const sessionId = await agent.newSession();
  await agent.client.prompt(sessionId, "Look it up");
  assertEquals(desk.calls, ["one"]);
  assertStringIncludes(desk.asked[0]!.card, `it reads ${url}`);
  const results = toolResults(model.requests[2]!.body);
  assertEquals(results, { one: `${url}\n\n# Hi`, two: `${url}/b\n\n# Hi` });
  const cards = cardOf(agent.client, "one");
  assertEquals([cards[0]?.["title"], cards[0]?.["kind"]], [`Fetch ${url}`, "fetch"]);
  assertEquals(cards.at(-1)?.["content"], [
    { type: "content", content: { type: "text", text: `\`\`\`\n${url}\n\n# Hi\n\`\`\`` } },
  ]);
});

Deno.test("by default web_fetch does not reach this machine, whatever the user answers", async () => {
  await using model = ModelServer.start();
  model.push(answer(call("one", "web_fetch", { url: model.url })), answer(text("No.")));
  await using agent = await startAgent({ model });
  new PermissionDesk(agent.client, "allow-once");
  await agent.client.prompt(await agent.newSession(), "Look it up");
  assertStringIncludes(
    toolResults(model.requests[1]!.body)["one"]!,
    "not an address on the public",
  );
});

for (const env of [{ DSH_WEB_FETCH: "off" }, { DSH_SANDBOX_NETWORK: "off" }]) {
  Deno.test(`web_fetch is not offered with ${JSON.stringify(env)}`, async () => {
    await using model = ModelServer.start([answer(text("ok"))]);
    await using agent = await startAgent({ model, env });
    await agent.client.prompt(await agent.newSession(), "hi");
    assertEquals(toolNames(model).includes("web_fetch"), false);
  });
}
