/**
 * Builds the program as one executable per platform, in `dist/PLATFORM/`: `deno task compile`.
 *
 *     deno task compile [--target PLATFORM]... [--output FOLDER]
 *
 * `deno compile` puts the modules behind a base runtime (denort) that it downloads from dl.deno.land,
 * or takes from `DENORT_BIN`. The exit code is 1 when a platform could not be built.
 */
import { LATER_MODULES } from "../acp/later_modules.ts";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** How long dl.deno.land may take to answer, in milliseconds. */
const PROBE_TIMEOUT = 5_000;
const decoder = new TextDecoder();

/** What an executable is built for. */
export interface Target {
  /** As the ACP registry calls it. */
  readonly platform: string;
  /** As `deno compile` calls it. */
  readonly triple: string;
  /** The name of the executable. */
  readonly file: string;
}

/** Every platform that `deno compile` can build for. */
export const TARGETS: readonly Target[] = [
  { platform: "linux-x86_64", triple: "x86_64-unknown-linux-gnu", file: "dsh-acp" },
  { platform: "linux-aarch64", triple: "aarch64-unknown-linux-gnu", file: "dsh-acp" },
  { platform: "darwin-x86_64", triple: "x86_64-apple-darwin", file: "dsh-acp" },
  { platform: "darwin-aarch64", triple: "aarch64-apple-darwin", file: "dsh-acp" },
  { platform: "windows-x86_64", triple: "x86_64-pc-windows-msvc", file: "dsh-acp.exe" },
];

/**
 * What the executable may do and has switched on. Permissions are fixed when it is built, and it
 * needs these: read and write (which folders are workspaces is known only when a session opens), run
 * (bash and the sandbox), net (any server a model or a store is on), env (what commands inherit) and
 * sys (the host's name, for leases). That leaves ffi and import, and without those two Deno does not
 * let it read /proc, which tells a crashed process from a running one: its sessions would stay
 * locked until their lease runs out. So it is all of them; who wants Deno's fence uses `deno run`.
 */
export const GRANTS: readonly string[] = ["-A", "--unstable-kv"];

const COMPILE_FLAGS: readonly string[] = [
  // Never without the lock: what is shipped is what was tested.
  "--frozen",
  "--no-check",
  "--exclude-unused-npm",
  // The cache would be a file of a known name in the shared temp folder, and be run as it is.
  "--no-code-cache",
];

/** Whether the base runtime of a target is at hand. */
export type BaseRuntime =
  | { readonly type: "ready"; readonly source: string }
  | { readonly type: "missing"; readonly reason: string };

/** The target of the machine this runs on. */
export function hostTarget(): Target | undefined {
  return TARGETS.find(({ triple }) => triple === Deno.build.target);
}

/** Looks for a base runtime where `deno compile` will: `DENORT_BIN`, Deno's cache, dl.deno.land. */
export async function findBase(target: Target): Promise<BaseRuntime> {
  const given = Deno.env.get("DENORT_BIN");
  if (given !== undefined) {
    if (target.triple !== Deno.build.target) {
      return { type: "missing", reason: `DENORT_BIN is for this machine, ${Deno.build.target}` };
    }
    return await exists(given)
      ? { type: "ready", source: "DENORT_BIN" }
      : { type: "missing", reason: `DENORT_BIN names no file: "${given}"` };
  }
  const path = `release/v${Deno.version.deno}/denort-${target.triple}.zip`;
  if (await exists(join(await denoDir(), "dl", path))) return { type: "ready", source: "cache" };
  const url = `https://dl.deno.land/${path}`;
  const problem = await probe(url);
  return problem === undefined
    ? { type: "ready", source: url }
    : { type: "missing", reason: `its base runtime cannot be downloaded from ${url}: ${problem}` };
}

/** What a build came to. */
export type Build =
  | { readonly type: "built"; readonly bytes: number; readonly packages: readonly Embedded[] }
  | { readonly type: "failed"; readonly reason: string };

/** An npm package inside an executable. */
export interface Embedded {
  readonly name: string;
  /** As `deno compile` prints it. */
  readonly size: string;
}

/**
 * Builds the executable of a target. What is wrong with it is part of the result.
 *
 * @param denort The base runtime, where it is another than {@linkcode findBase} finds.
 */
export async function compileTo(target: Target, output: string, denort?: string): Promise<Build> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "compile",
      ...COMPILE_FLAGS,
      ...GRANTS,
      ...LATER_MODULES.flatMap((path) => ["--include", join("acp", path)]),
      "--target",
      target.triple,
      "--output",
      output,
      "mod.ts",
    ],
    cwd: ROOT,
    // The lock knows jsr.io only, and the program needs nothing from there.
    env: {
      NO_COLOR: "1",
      JSR_URL: "https://jsr.io/",
      ...(denort !== undefined && { DENORT_BIN: denort }),
    },
    stdin: "null",
  }).output();
  const report = (decoder.decode(stdout) + decoder.decode(stderr)).replace(ESCAPES, "");
  if (!success) return { type: "failed", reason: firstError(report) };
  const packages = embeddedPackages(report);
  if (packages.length === 0) return { type: "failed", reason: "its list of packages is not known" };
  if (packages.some(({ name }) => name.startsWith("@deno/"))) {
    return { type: "failed", reason: "npm:@deno/kv is in it, which is for deno run only" };
  }
  const { size } = await Deno.stat(output);
  return { type: "built", bytes: size, packages };
}

/** Runs an executable to see that it is this program; returns what is wrong with it. */
export async function problemOf(executable: string): Promise<string | undefined> {
  const { name, version } = { name: "dsh-acp", version: await packageVersion() };
  try {
    const { stdout } = await new Deno.Command(executable, {
      args: ["--version"],
      stdin: "null",
      stderr: "null",
    }).output();
    const said = decoder.decode(stdout).trim().split("\n")[0];
    if (said === `${name} ${version}`) return undefined;
    return `asked for its version it says "${said}": what it was built on is no base runtime`;
  } catch (error) {
    return `it cannot be run: ${error instanceof Error ? error.message : error}`;
  }
}

/** The version in deno.json. */
export async function packageVersion(): Promise<string> {
  return String(JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json"))).version);
}

// deno-lint-ignore no-control-regex -- colours come in spite of NO_COLOR
const ESCAPES = /\x1b\[[0-9;]*m/g;
const TREE_LINE = /^([│├└─┬ ]*)(\S+) \(([^)]*)\)$/;

/** Reads the packages from the tree that `deno compile` prints. */
export function embeddedPackages(report: string): readonly Embedded[] {
  const path: string[] = [];
  const packages: Embedded[] = [];
  for (const line of report.split("\n")) {
    const [, branch = "", entry = "", size = ""] = TREE_LINE.exec(line) ?? [];
    if (entry === "") continue;
    // Each level of the tree is two characters wide, and the last has a third.
    path.length = Math.max(0, (branch.trimEnd().length - 3) / 2);
    path.push(entry);
    const [folder, , ...rest] = path;
    const leaf = entry.endsWith("/*") || /^\d/.test(entry);
    if (folder !== ".deno_compile_node_modules" || !leaf) continue;
    const parts = rest.join("/").split("/");
    const name = parts.slice(0, parts[0]?.startsWith("@") ? 2 : 1).join("/");
    if (packages.at(-1)?.name !== name) packages.push({ name, size: size.split(" ")[0] ?? "" });
  }
  return packages;
}

/** The message of a failed `deno compile` with its causes, without the stack. */
function firstError(report: string): string {
  const [message = ""] = report.slice(report.indexOf("error: ") + 7).split("\n\nStack backtrace");
  return message.replace(/\n\nCaused by:/, ":").replace(
    /\s+(\d+: )?/g,
    (gap) => gap.includes("\n") ? " " : gap,
  ).trim();
}

async function probe(url: string): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT);
    const response = await fetch(url, { method: "HEAD", signal });
    await response.body?.cancel();
    return response.ok ? undefined : `it answers ${response.status}`;
  } catch (error) {
    const cause = error instanceof Error ? error.cause ?? error : error;
    return cause instanceof Error ? cause.message.split(": ").at(-1) : String(cause);
  }
}

async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-config"],
    stdin: "null",
    stderr: "null",
  }).output();
  return String(JSON.parse(decoder.decode(stdout)).denoDir);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(({ isFile }) => isFile, () => false);
}

/** The targets and the folder of a command line, or what is wrong with it. */
function readArguments(
  args: readonly string[],
): { readonly targets: readonly Target[]; readonly folder: string } | string {
  const targets: Target[] = [];
  let folder = join(ROOT, "dist");
  for (let at = 0; at < args.length; at += 2) {
    const [flag, value] = [args[at], args[at + 1]];
    const target = TARGETS.find(({ platform }) => platform === value);
    if (flag === "--target" && target) targets.push(target);
    else if (flag === "--output" && value !== undefined) folder = value;
    else {
      const platforms = TARGETS.map(({ platform }) => platform).join(", ");
      return `usage: deno task compile [--target PLATFORM]... [--output FOLDER]\nPLATFORM is one of ${platforms}`;
    }
  }
  return { targets: targets.length > 0 ? targets : TARGETS, folder };
}

async function main(args: readonly string[]): Promise<number> {
  const plan = readArguments(args);
  if (typeof plan === "string") {
    print(plan);
    return 2;
  }
  let failed = 0;
  let packages: readonly Embedded[] = [];
  for (const target of plan.targets) {
    const folder = join(plan.folder, target.platform);
    const output = join(folder, target.file);
    const base = await findBase(target);
    if (base.type === "missing") {
      failed++;
      print(`${target.platform}: not built, as ${base.reason}`);
      continue;
    }
    await Deno.mkdir(folder, { recursive: true });
    const build = await compileTo(target, output);
    const runs = build.type === "built" && target.triple === Deno.build.target;
    const problem = build.type === "failed"
      ? build.reason
      : runs
      ? await problemOf(output)
      : undefined;
    if (build.type === "failed" || problem !== undefined) {
      failed++;
      await Deno.remove(folder, { recursive: true });
      print(`${target.platform}: not built, as ${problem}`);
      continue;
    }
    packages = build.packages;
    print(`${target.platform}: ${output}, ${(build.bytes / 1e6).toFixed(1)} MB`);
  }
  if (packages.length > 0) {
    print(`\nWhat is in it besides Deno and this checkout's modules:`);
    for (const { name, size } of packages) print(`  ${name} ${size}`);
  }
  if (failed > 0) {
    print(`\n${failed} of ${plan.targets.length} not built.`);
    print(
      `Where dl.deno.land cannot be reached, DENORT_BIN can name the denort of Deno ${Deno.version.deno} for this machine.`,
    );
  }
  return failed > 0 ? 1 : 0;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

if (import.meta.main) Deno.exit(await main(Deno.args));
