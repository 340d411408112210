import { assert, assertEquals, assertLess } from "@std/assert";
import { compactFile } from "../../session/compact_file.ts";
import { type Kv, openKv } from "../../session/kv.ts";

const VALUE = new Uint8Array(60_000).fill(7);

/** A store of 20 MB, all but 2 MB of it deleted. */
async function makeGaps(path: string): Promise<void> {
  const kv = await openKv(path);
  for (let row = 0; row < 34; row++) {
    const atomic = kv.atomic();
    for (let column = 0; column < 10; column++) atomic.set(["row", row, column], VALUE);
    await atomic.commit();
  }
  for (let row = 0; row < 30; row++) {
    const atomic = kv.atomic();
    for (let column = 0; column < 10; column++) atomic.delete(["row", row, column]);
    await atomic.commit();
  }
  kv.close();
}

async function contents(kv: Kv): Promise<string[]> {
  const found: string[] = [];
  for await (const { key, value, versionstamp } of kv.list({ prefix: [] })) {
    assert(value instanceof Uint8Array && value.length === VALUE.length && value[59_999] === 7);
    found.push(`${JSON.stringify(key)} ${versionstamp}`);
  }
  return found;
}

async function readAll(path: string): Promise<string[]> {
  const kv = await openKv(path);
  try {
    return await contents(kv);
  } finally {
    kv.close();
  }
}

async function inFolder(use: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(`${folder}/sessions.kv`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("compactFile() gives space back and keeps values and versionstamps", async () => {
  await inFolder(async (path) => {
    await makeGaps(path);
    const before = await readAll(path);
    assertEquals(before.length, 40);
    assertEquals(await compactFile(path), { type: "compacted" });
    assertLess((await Deno.stat(path)).size, 3_000_000);
    assertEquals(await readAll(path), before);
  });
});

Deno.test("compactFile() leaves alone what another process has open, and tells", async () => {
  await inFolder(async (path) => {
    await makeGaps(path);
    const program = `
      const kv = await Deno.openKv(${JSON.stringify(path)});
      await kv.get(["row"]);
      console.log("open");
      for await (const _ of Deno.stdin.readable);
      kv.close();
    `;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--unstable-kv", program],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const output = child.stdout.getReader();
    await output.read();
    const { size } = await Deno.stat(path);
    assertEquals(await compactFile(path), { type: "in_use" });
    assertEquals((await Deno.stat(path)).size, size);
    await child.stdin.close();
    assertEquals((await child.status).code, 0);
    await output.cancel();
    assertEquals(await compactFile(path), { type: "compacted" });
    assertLess((await Deno.stat(path)).size, size / 4);
  });
});

Deno.test("compactFile() that is killed leaves the store as it was, or compacted", async () => {
  await inFolder(async (path) => {
    const module = new URL("../../session/compact_file.ts", import.meta.url).href;
    const program = `
      const { compactFile } = await import(${JSON.stringify(module)});
      await import("node:sqlite");
      console.log("begin");
      await compactFile(${JSON.stringify(path)});
    `;
    for (let delay = 0; delay < 120; delay += 20) {
      await makeGaps(path);
      const before = await readAll(path);
      const child = new Deno.Command(Deno.execPath(), {
        args: ["eval", program],
        stdout: "piped",
      }).spawn();
      const output = child.stdout.getReader();
      await output.read();
      // Any moment of the rewriting will do: there is no event in it to wait for.
      await new Promise((resolve) => setTimeout(resolve, delay));
      try {
        child.kill("SIGKILL");
      } catch {
        // It was faster.
      }
      await child.status;
      await output.cancel();
      assertEquals(await readAll(path), before);
    }
  });
});

Deno.test("compactFile() of what is no store fails and says why", async () => {
  await inFolder(async (path) => {
    await Deno.writeTextFile(path, "no database at all ".repeat(1_000));
    const result = await compactFile(path);
    assertEquals(result.type, "failed");
    assertEquals(await Deno.readTextFile(path), "no database at all ".repeat(1_000));
  });
});
