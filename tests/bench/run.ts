/** Runs every benchmark of this folder, one after the other: `deno task bench`. */
const folder = new URL("./", import.meta.url);
const own = new URL(import.meta.url).pathname.split("/").at(-1);
const names = Array.from(Deno.readDirSync(folder), ({ name }) => name)
  .filter((name) => name.endsWith(".ts") && name !== own && !name.startsWith("_")).sort();
for (const name of names) {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL(name, folder).href],
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  if (!success) Deno.exit(1);
}
