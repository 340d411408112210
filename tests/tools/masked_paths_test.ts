import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { policy, Workspace } from "./_workspace.ts";

Deno.test("read and grep show nothing of what is masked, however it is reached", async () => {
  await using ws = await Workspace.open();
  await ws.put("keys/own.json", "needle secret");
  await ws.put("plain", "needle plain");
  await Deno.symlink("keys", ws.path("alias"));
  await Deno.link(ws.path("keys/own.json"), ws.path("other"));
  ws.policy = {
    ...policy("workspace-write", [ws.cwd]),
    maskedPaths: [ws.path("keys/own.json"), ws.path("missing")],
  };
  for (const file_path of ["keys/own.json", "alias/own.json", "other"]) {
    const text = await ws.text("read", { file_path });
    assertStringIncludes(text, `Cannot read "${file_path}" as it holds secrets`);
  }
  assertStringIncludes(await ws.text("read", { file_path: "plain" }), "needle plain");
  const found = await ws.text("grep", { pattern: "needle" });
  assertEquals(found, "1 match\n\nplain\n1: needle plain");
  const direct = await ws.text("grep", { pattern: "needle", path: "alias/own.json" });
  assert(direct.includes("Cannot search") && !direct.includes("secret\n"), direct);
});

Deno.test("full access masks nothing", async () => {
  await using ws = await Workspace.open();
  await ws.put("own.json", "needle");
  ws.policy = { ...policy("danger-full-access"), maskedPaths: [ws.path("own.json")] };
  assertStringIncludes(await ws.text("read", { file_path: "own.json" }), "needle");
});
