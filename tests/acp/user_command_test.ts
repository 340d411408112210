import { assert, assertEquals } from "@std/assert";
import type { Json } from "../../tools/json.ts";
import { terminalOutput } from "../helpers/frames.ts";
import { ModelServer } from "../helpers/model_server.ts";
import { answer, text } from "../helpers/model_turn.ts";
import { startAgent } from "../helpers/start_agent.ts";

async function run(...prompt: readonly Json[]): Promise<{ output: string; files: string[] }> {
  await using agent = await startAgent({ files: { "it's a file.txt": "inside\n" } });
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(sessionId, prompt);
  assertEquals(answered.type, "result", JSON.stringify(answered));
  const files = Array.from(Deno.readDirSync(agent.workspace), ({ name }) => name).sort();
  return { output: terminalOutput(agent.client.updatesOf(sessionId)), files };
}

const command = (text: string) => ({ type: "text", text });
const link = (uri: string, name = "x") => ({ type: "resource_link", uri, name });

Deno.test("a link in a ! prompt is one quoted word, whatever it holds", async () => {
  for (
    const [uri, word] of [
      ["file:///x/$(touch%20owned)", "/x/$(touch owned)"],
      ["file:///x/`touch owned`", "/x/`touch owned`"],
      ["file:///x'; touch owned; '", "/x'; touch owned; '"],
      ["file:///x\ntouch owned", "/x\ntouch owned"],
      ["https://example.com/a?b=$HOME", "https://example.com/a?b=$HOME"],
      ["file:///100%", "/100%"],
    ] as const
  ) {
    const { output, files } = await run(command("!printf '<%s>' "), link(uri, "`touch owned`"));
    assertEquals(output, `<${word}>`);
    assertEquals(files, ["it's a file.txt"]);
  }
});

Deno.test("a link in a ! prompt can be read by the command", async () => {
  await using agent = await startAgent({ files: { "it's a file.txt": "inside\n" } });
  const sessionId = await agent.newSession();
  const uri = new URL(`file://${agent.path("it's a file.txt")}`).href;
  await agent.client.prompt(sessionId, [
    command("!true; cat "),
    link(uri),
    command(" | tr a-z A-Z"),
  ]);
  assertEquals(terminalOutput(agent.client.updatesOf(sessionId)), "INSIDE\n");
});

Deno.test("a ! alone is no command", async () => {
  await using model = ModelServer.start([answer(text("What would you like to run?"))]);
  await using agent = await startAgent({ model });
  const sessionId = await agent.newSession();
  const answered = await agent.client.prompt(sessionId, "! ");
  assertEquals(answered.type, "result");
  assert(model.requests.length === 1);
});
