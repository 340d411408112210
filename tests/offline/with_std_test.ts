import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("./with_std.ts", import.meta.url));
const STAND_IN = new URL("./jsr/", import.meta.url).href;

/** Runs the launcher in a folder of its own, with a module that imports from jsr.io. */
async function launch(
  folder: string,
  args: readonly string[],
  jsrUrl: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "--no-config", LAUNCHER, ...args],
    cwd: folder,
    env: { JSR_URL: jsrUrl, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: output.code, stdout: decode(output.stdout), stderr: decode(output.stderr) };
}

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/deno.json`, "{}");
    await Deno.writeTextFile(
      `${folder}/main.ts`,
      `import { assert } from "jsr:@std/assert@1";\nassert(true);\nDeno.exit(7);\n`,
    );
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("with_std serves stand-ins, writes no lock file, and passes the exit code on", async () => {
  await withFolder(async (folder) => {
    const { code, stderr } = await launch(folder, ["run", "-A", "main.ts"], STAND_IN);
    assertEquals([code, stderr], [7, ""]);
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
    assertEquals(names, ["deno.json", "main.ts"]);
  });
});

Deno.test("with_std leaves a JSR_URL of the user and the lock file alone", async () => {
  await withFolder(async (folder) => {
    const code = `Deno.stdout.writeSync(new TextEncoder().encode(Deno.env.get("JSR_URL")))`;
    const own = "http://127.0.0.1:9/";
    assertEquals(await launch(folder, ["eval", code], own), { code: 0, stdout: own, stderr: "" });
    const failed = await launch(folder, ["run", "-A", "main.ts"], own);
    assertStringIncludes(failed.stderr, "127.0.0.1:9");
  });
});

Deno.test({
  name: "with_std forwards signals",
  ignore: Deno.build.os === "windows",
  async fn() {
    const code = `Deno.addSignalListener("SIGTERM", () => Deno.exit(9));
      Deno.stdout.writeSync(new TextEncoder().encode("up"));
      setInterval(() => {}, 1000);`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", "--no-config", LAUNCHER, "eval", code],
      env: { JSR_URL: STAND_IN },
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    assertEquals(new TextDecoder().decode(value), "up");
    child.kill("SIGTERM");
    assertEquals((await child.status).code, 9);
    await reader.cancel();
  },
});
