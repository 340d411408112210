import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { chooseContainment } from "../../bash/sandbox/choose_containment.ts";
import { SandboxProbe, type SandboxRunner } from "../../bash/sandbox/probe.ts";
import { seatbeltProfile } from "../../bash/sandbox/seatbelt.ts";
import { policyFor, TempFolder } from "./_helpers.ts";

async function probeScript(body: string): Promise<SandboxRunner> {
  await using folder = new TempFolder();
  const bwrap = folder.file("bwrap", `#!/bin/sh\n${body}\n`);
  Deno.chmodSync(bwrap, 0o755);
  return await new SandboxProbe({ os: "linux", bwrap }).runner();
}

Deno.test("SandboxProbe finds bubblewrap by running it", async () => {
  assertEquals(await new SandboxProbe({ os: "linux" }).runner(), {
    type: "bubblewrap",
    program: "/usr/bin/bwrap",
    root: Deno.uid() === 0,
  });
});

Deno.test("SandboxProbe asks once", async () => {
  await using folder = new TempFolder();
  const bwrap = folder.file("bwrap", `#!/bin/sh\necho x >> ${folder.path}/calls\n`);
  Deno.chmodSync(bwrap, 0o755);
  const probe = new SandboxProbe({ os: "linux", bwrap });
  await Promise.all([probe.runner(), probe.runner()]);
  await probe.runner();
  assertEquals(Deno.readTextFileSync(`${folder.path}/calls`), "x\n");
});

Deno.test("SandboxProbe says what to do where there is no runner", async () => {
  const missing = await new SandboxProbe({ os: "linux", bwrap: "/nowhere/bwrap" }).runner();
  const old = await probeScript("echo 'bwrap: Unknown option --disable-userns' >&2; exit 1");
  const blocked = await probeScript(
    "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
  );
  const odd = await probeScript("exit 3");
  const windows = await new SandboxProbe({ os: "windows" }).runner();
  const mac = await new SandboxProbe({ os: "darwin", sandboxExec: "/nowhere/sandbox-exec" })
    .runner();
  assertEquals(
    [missing, old, blocked, odd, windows, mac].map(({ type }) => type),
    Array(6).fill("none"),
  );
  assert(missing.type === "none" && old.type === "none" && blocked.type === "none");
  for (const name of ["apt install bubblewrap", "dnf install", "pacman -S"]) {
    assertStringIncludes(missing.advice, name);
  }
  assertStringIncludes(old.reason, "too old");
  assertStringIncludes(blocked.reason, "user namespace");
  assert(blocked.advice.includes("userns"), blocked.advice);
});

Deno.test("chooseContainment() fails closed", () => {
  const runner: SandboxRunner = { type: "none", reason: "it is missing", advice: "Install it" };
  for (const mode of ["read-only", "workspace-write"] as const) {
    const choice = chooseContainment({ policy: policyFor("/", mode), runner, cwd: "/" });
    assertEquals(choice, {
      type: "refused",
      message: "No sandbox is available: it is missing. Install it",
    });
  }
});

Deno.test("chooseContainment() runs unfenced only what was approved or needs no fence", () => {
  const none: SandboxRunner = { type: "none", reason: "", advice: "" };
  const group = { type: "contained", containment: { type: "process-group" } } as const;
  const full = policyFor("/", "danger-full-access");
  const approved = policyFor("/", "workspace-write", { enforcement: "none" });
  assertEquals(chooseContainment({ policy: full, runner: none, cwd: "/" }), group);
  assertEquals(chooseContainment({ policy: approved, runner: none, cwd: "/" }), group);
  const bwrap: SandboxRunner = { type: "bubblewrap", program: "bwrap", root: false };
  const contained = chooseContainment({ policy: full, runner: bwrap, cwd: "/" });
  assert(contained.type === "contained" && contained.containment.type === "bubblewrap");
});

Deno.test("seatbeltProfile() denies writes but for the roots", () => {
  const policy = policyFor('/Users/a/my "work"', "workspace-write", {
    protectedPaths: ['/Users/a/my "work"/.git/hooks', "/Users/a/data"],
    maskedPaths: ["/Users/a/data/keys"],
    network: "off",
  });
  assertEquals(seatbeltProfile({ policy, tmpDir: "/private/tmp/dsh" }).split("\n"), [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/stdout") (literal "/dev/stderr") (literal "/dev/ptmx"))',
    '(allow file-write* (regex #"^/dev/fd/") (regex #"^/dev/ttys[0-9]+$"))',
    '(allow file-write* (subpath "/Users/a/my \\"work\\""))',
    '(allow file-write* (subpath "/private/tmp/dsh"))',
    '(deny file-write* (subpath "/Users/a/my \\"work\\"/.git/hooks"))',
    '(deny file-write-unlink (literal "/Users/a/my \\"work\\"/.git"))',
    '(deny file-write* (subpath "/Users/a/data"))',
    '(deny file-read* (subpath "/Users/a/data/keys"))',
    "(deny network*)",
    "",
  ]);
});

Deno.test("seatbeltProfile() gives read-only no root and full access everything", () => {
  const readOnly = seatbeltProfile({ policy: policyFor("/w", "read-only") });
  assert(!readOnly.includes("/w"));
  assertStringIncludes(readOnly, "(deny file-write*)");
  const full = seatbeltProfile({ policy: policyFor("/w", "danger-full-access") });
  assertEquals(full, "(version 1)\n(allow default)\n");
});
