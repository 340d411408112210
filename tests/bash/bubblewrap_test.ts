import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { SandboxPolicy } from "../../tools/sandbox_policy.ts";
import { bubblewrapArgs, type BubblewrapOptions } from "../../bash/sandbox/bubblewrap.ts";
import { serviceMasks } from "../../bash/sandbox/service_masks.ts";
import { ENV, policyFor, run, TempFolder } from "./_helpers.ts";

/** A workspace with a repository, beside a data folder, a temporary one and one with outputs. */
class Workspace extends TempFolder {
  readonly root: string;
  readonly tmp: string;
  readonly output: string;
  readonly data: string;

  constructor() {
    super();
    this.root = this.folder("workspace");
    this.folder("workspace/.git/hooks");
    this.file("workspace/.git/config", "[core]\n");
    this.tmp = this.folder("tmp");
    this.output = this.folder("output");
    this.data = this.folder("data");
    this.file("output/full.log", "full");
    this.file("data/session.db", "kept");
    this.file("outside.txt", "outside");
    Deno.symlinkSync(this.path, `${this.root}/up`);
  }

  policy(more: Partial<SandboxPolicy> = {}): SandboxPolicy {
    return policyFor(this.root, "workspace-write", {
      protectedPaths: [`${this.root}/.git/hooks`, `${this.root}/.git/config`, this.data],
      ...more,
    });
  }

  args(more: Partial<BubblewrapOptions> = {}): string[] {
    return bubblewrapArgs({
      policy: this.policy(),
      cwd: this.root,
      tmpDir: this.tmp,
      readable: [this.output],
      ...more,
    });
  }

  async run(command: string, more: Partial<BubblewrapOptions> = {}): Promise<string> {
    const containment = { type: "bubblewrap", program: "bwrap", args: this.args(more) } as const;
    const env = { ...ENV, TMPDIR: this.tmp };
    const result = await run(command, { containment, cwd: this.root, env });
    assert(result.exit.type !== "spawn_failed", JSON.stringify(result.exit));
    return result.text;
  }

  /** The same as an ordinary user, who owns the workspace. */
  async runAs(user: number, command: string): Promise<string> {
    const chown = new Deno.Command("chown", { args: ["-R", `${user}:${user}`, this.path] });
    await chown.output();
    const args = ["--reuid", `${user}`, "--regid", `${user}`, "--clear-groups", "bwrap"];
    const { stdout, stderr } = await new Deno.Command("setpriv", {
      args: [...args, ...this.args(), "bash", "-c", command],
      env: { ...ENV, TMPDIR: this.tmp, HOME: this.root },
      clearEnv: true,
    }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  }
}

/** Every way out that must fail; each prints `open` where it does not. */
const ESCAPES = [
  "echo x > ../outside.txt",
  "echo x > up/outside.txt",
  "echo x > $PWD/../outside.txt",
  "echo x > up/new.txt",
  "mkdir up/new",
  "rm up/outside.txt",
  "mv up/outside.txt .",
  "ln ../outside.txt inside && echo x > inside",
  "mount -o remount,rw /",
  "mount -o remount,bind,rw /",
  "mount -o remount,bind,rw $PWD/.git/hooks",
  "umount $PWD/.git/hooks",
  "unshare -Ur true",
  "unshare -Urm mount -o remount,bind,rw /",
  "mount -t tmpfs none /mnt",
  "echo x > .git/hooks/pre-commit",
  "echo x >> .git/config",
  "rm -f .git/config",
  "mv .git/hooks .git/old",
  "mv .git/config .git/old",
  "mv .git elsewhere",
  "rm -rf .git/hooks",
  "echo x > ../data/session.db",
  "rm -f ../data/session.db",
  "touch ../data/new",
  "echo x > ../output/full.log",
  // The value it has: this must do no harm even where it is possible.
  "read -r p < /proc/sys/kernel/core_pattern && echo $p > /proc/sys/kernel/core_pattern",
].map((command) => `if (${command}) >/dev/null 2>&1; then echo 'open: ${command}'; fi`).join("\n");

const ALLOWED = [
  "echo x > new.txt && cat new.txt",
  "mkdir -p a/b && echo y > a/b/c && rm -r a",
  "echo z > .git/index",
  "cat ../outside.txt ../output/full.log ../data/session.db",
  "cat /etc/hostname > /dev/null",
  "f=$(mktemp) && echo t > $f && cat $f",
  "cat up/outside.txt",
  "cat <<< 'a here string'",
].join(" && ");

const ALLOWED_OUTPUT = "x\noutsidefullkeptt\noutsidea here string\n";

function assertUntouched(workspace: Workspace): void {
  assertEquals(Deno.readTextFileSync(`${workspace.path}/outside.txt`), "outside");
  assertEquals(Deno.readTextFileSync(`${workspace.data}/session.db`), "kept");
  assertEquals(Deno.readTextFileSync(`${workspace.root}/.git/config`), "[core]\n");
  assertEquals([...Deno.readDirSync(`${workspace.root}/.git/hooks`)], []);
}

Deno.test("workspace-write fences writes in, as root too", async () => {
  await using workspace = new Workspace();
  assertEquals(await workspace.run(ESCAPES), "");
  assertUntouched(workspace);
  assertEquals(await workspace.run(ALLOWED), ALLOWED_OUTPUT);
});

Deno.test({
  name: "workspace-write fences writes in for an ordinary user",
  ignore: Deno.uid() !== 0,
  fn: async () => {
    await using workspace = new Workspace();
    assertEquals(await workspace.runAs(65534, ESCAPES), "");
    assertUntouched(workspace);
    assertEquals(await workspace.runAs(65534, ALLOWED), ALLOWED_OUTPUT);
    assertEquals(await workspace.runAs(65534, "id -u"), "65534\n");
  },
});

Deno.test("a command in the sandbox has no capability and is the user it was", async () => {
  await using workspace = new Workspace();
  const text = await workspace.run("id -u; grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status");
  assertEquals(text.split("\n")[0], `${Deno.uid()}`);
  assertEquals(text.match(/0000000000000000/g)?.length, 3);
});

Deno.test("read-only lets nothing but the private folder be written", async () => {
  await using workspace = new Workspace();
  const policy = workspace.policy({ mode: "read-only" });
  const command = "echo x > new.txt; cat ../outside.txt; echo t > $TMPDIR/t && cat $TMPDIR/t";
  const text = await workspace.run(command, { policy });
  assertStringIncludes(text, "new.txt: Read-only file system");
  assert(text.endsWith("outsidet\n"), text);
});

Deno.test("full access is containment only", async () => {
  await using workspace = new Workspace();
  const policy = workspace.policy({ mode: "danger-full-access" });
  const command =
    "echo x > ../outside.txt; echo h > .git/hooks/h; ls /proc | grep -c '^[0-9]'; grep CapEff /proc/self/status";
  const [processes, capabilities] = (await workspace.run(command, { policy })).split("\n");
  assertEquals(Deno.readTextFileSync(`${workspace.path}/outside.txt`), "x\n");
  assertEquals(Deno.readTextFileSync(`${workspace.root}/.git/hooks/h`), "h\n");
  assert(Number(processes) <= 4, processes);
  assertEquals(capabilities, /CapEff.*/.exec(Deno.readTextFileSync("/proc/self/status"))?.[0]);
});

Deno.test("a sandbox without network has none", async () => {
  await using workspace = new Workspace();
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = server.addr as Deno.NetAddr;
  const command = `exec 2>/dev/null; : < /dev/tcp/127.0.0.1/${port} && echo reached || echo no way`;
  const policy = workspace.policy({ network: "off" });
  assertEquals(await workspace.run(command, { policy }), "no way\n");
  const connection = server.accept();
  assertEquals(await workspace.run(command), "reached\n");
  (await connection).close();
  server.close();
});

Deno.test("protected paths that are missing cannot be made inside", async () => {
  await using workspace = new Workspace();
  await Deno.remove(`${workspace.root}/.git`, { recursive: true });
  await Deno.mkdir(`${workspace.root}/.git`);
  await workspace.run(
    "echo x > .git/hooks/pre-commit; rm -rf .git/hooks; mkdir .git/hooks; echo x > .git/config",
  );
  assertEquals([...Deno.readDirSync(`${workspace.root}/.git/hooks`)], []);
  assertEquals(Deno.readTextFileSync(`${workspace.root}/.git/config`), "");
});

Deno.test("the .git file of a linked worktree cannot be pointed elsewhere", async () => {
  await using workspace = new Workspace();
  await Deno.remove(`${workspace.root}/.git`, { recursive: true });
  await Deno.writeTextFile(`${workspace.root}/.git`, "gitdir: /elsewhere\n");
  await workspace.run("echo 'gitdir: evil' > .git; rm -f .git; mv .git x; mkdir -p .git/hooks");
  assertEquals(Deno.readTextFileSync(`${workspace.root}/.git`), "gitdir: /elsewhere\n");
});

Deno.test("/tmp is the private folder for a workspace elsewhere", async () => {
  await using workspace = new Workspace();
  const policy = policyFor("/var", "read-only");
  const command = "echo t > /tmp/t && cat $TMPDIR/t; ls /tmp | grep -c dsh-bash-test";
  assertEquals(await workspace.run(command, { policy, cwd: "/var" }), "t\n1\n");
  assertEquals(Deno.readTextFileSync(`${workspace.tmp}/t`), "t\n");
});

Deno.test("a workspace behind a link is the workspace", async () => {
  await using workspace = new Workspace();
  const link = `${workspace.path}/link`;
  Deno.symlinkSync(workspace.root, link);
  const policy = workspace.policy({ writableRoots: [link] });
  const text = await workspace.run("echo x > made && cat made", { policy, cwd: link });
  assertEquals(text, "x\n");
});

Deno.test("a private folder inside protected data is writable, the rest of it is not", async () => {
  await using workspace = new Workspace();
  const tmpDir = workspace.folder("data/tmp");
  const command = `echo t > ${tmpDir}/t && cat ${tmpDir}/t; echo x > ${workspace.data}/session.db`;
  const text = await workspace.run(command, { tmpDir });
  assert(text.startsWith("t\n"));
  assertStringIncludes(text, "Read-only file system");
});

Deno.test("masked paths show nothing, wherever they lie", async () => {
  await using workspace = new Workspace();
  const root = workspace.folder("service");
  workspace.file("service/secret", "secret");
  workspace.folder("service/agent");
  workspace.file("service/agent/kept", "kept\n");
  workspace.file("data/key", "key");
  workspace.file("workspace/hidden", "hidden");
  const policy = workspace.policy({
    maskedPaths: [`${workspace.data}/key`, `${workspace.root}/hidden`, `${workspace.path}/none`],
  });
  const services = { masked: [root], kept: [`${root}/agent`] };
  const output = await workspace.run(
    "cat ../data/key hidden 2>/dev/null; ls ../service; cat ../service/agent/kept ../data/session.db; " +
      "(echo x > ../service/new) 2>/dev/null || echo no; " +
      "(echo x > hidden; mv hidden other; rm -f hidden) 2>/dev/null; cat other 2>/dev/null",
    { policy, services },
  );
  assertEquals(output, "agent\nkept\nkeptno\n");
  assertEquals(Deno.readTextFileSync(`${workspace.root}/hidden`), "hidden");
  // The workspace may lie in what is masked.
  assertEquals(
    await workspace.run("ls ..; ls", {
      services: { masked: [workspace.path], kept: [] },
      readable: [],
    }),
    "data\ntmp\nworkspace\nhidden\nup\n",
  );
});

Deno.test("serviceMasks() covers what others listen on, but not the agent of SSH", async () => {
  await using workspace = new Workspace();
  const paths = ["other", "ssh", "workspace/own"].map((name) => `${workspace.path}/${name}`);
  const listeners = paths.map((path) => Deno.listen({ transport: "unix", path }));
  const services = serviceMasks([workspace.root], { SSH_AUTH_SOCK: paths[1] });
  const mine = services.masked.filter((path) => path.startsWith(workspace.path));
  assertEquals(mine, [paths[0]]);
  const shown = await workspace.run(
    "for s in ../other ../ssh own; do test -S $s && echo $s; done; true",
    { services },
  );
  assertEquals(shown, "../ssh\nown\n");
  for (const listener of listeners) listener.close();
});
