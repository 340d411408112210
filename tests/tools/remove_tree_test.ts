import { assertEquals, assertRejects } from "@std/assert";
import { removePrefixed, removeTree } from "../../tools/remove_tree.ts";

const LINUX = Deno.build.os === "linux";

Deno.test({
  name: "removeTree() removes folders nested thousands deep, unwritable ones and links",
  ignore: !LINUX,
  fn: async () => {
    const root = await Deno.makeTempDir({ prefix: "dsh-remove-" });
    const nest = "mkdir x; path=$(printf 'd/%.0s' {1..1000}); cd x; " +
      "for i in {1..12}; do mkdir -p $path; cd $path; done 2> /dev/null; touch end; true";
    await new Deno.Command("bash", { args: ["-c", nest], cwd: root }).output();
    await Deno.mkdir(`${root}/x/closed`);
    await Deno.writeTextFile(`${root}/x/closed/file`, "");
    await Deno.chmod(`${root}/x/closed`, 0o500);
    await Deno.mkdir(`${root}/kept`);
    await Deno.symlink(`${root}/kept`, `${root}/x/link`);
    await removeTree(`${root}/x`);
    assertEquals([...Deno.readDirSync(root)].map(({ name }) => name), ["kept"]);
    await Deno.remove(root, { recursive: true });
    await removeTree(root);
  },
});

Deno.test("removePrefixed() removes what begins so, and nothing else", async () => {
  const root = await Deno.makeTempDir({ prefix: "dsh-remove-" });
  for (const name of ["a-1", "a-2", "b-1"]) {
    await Deno.mkdir(`${root}/${name}/inner`, { recursive: true });
  }
  await removePrefixed(root, "a-");
  assertEquals([...Deno.readDirSync(root)].map(({ name }) => name), ["b-1"]);
  await removePrefixed(`${root}/missing`, "a-");
  await removeTree(root);
  await assertRejects(() => Deno.stat(root), Deno.errors.NotFound);
});
