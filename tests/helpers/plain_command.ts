/** The command of the program under a configuration without the unstable flag, as on JSR. */
export async function plainCommand(folder: string): Promise<string[]> {
  const root = new URL("../../", import.meta.url);
  const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const path = `${folder}/deno.json`;
  await Deno.writeTextFile(path, JSON.stringify({ imports: config.imports }));
  const program = new URL("mod.ts", root).href;
  return [Deno.execPath(), "run", "-A", "--no-lock", "--config", path, program];
}
