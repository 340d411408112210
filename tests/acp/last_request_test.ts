import { assertEquals } from "@std/assert";
import { startAgent } from "../helpers/start_agent.ts";
import { programCommand } from "../helpers/program.ts";

Deno.test("a request that is followed by the end of the input at once is answered", async () => {
  await using agent = await startAgent();
  const [program = "", ...args] = programCommand();
  const frame = (id: number, method: string, params: unknown) =>
    new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  for (let round = 0; round < 20; round++) {
    const child = new Deno.Command(program, {
      args,
      env: { ...agent.env },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(frame(1, "initialize", { protocolVersion: 1 }));
    await writer.close();
    const { code, stdout } = await child.output();
    assertEquals(JSON.parse(new TextDecoder().decode(stdout)).id, 1);
    assertEquals(code, 0);
  }
});
