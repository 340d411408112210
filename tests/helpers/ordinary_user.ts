/** Runs the program as an ordinary user, where the tests themselves run as root. */
import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** A way to start the program as another user. Disposal removes what it needed. */
export interface OrdinaryUser extends AsyncDisposable {
  readonly command: readonly string[];
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>;
}

const SOURCE = ["mod.ts", "deno.json", "acp", "session", "tools", "bash"];

/**
 * Gives `folder` with all that is in it to a user, and a copy of the program, its dependencies and
 * Deno: a checkout and a home of root's are often closed to others.
 */
export async function ordinaryUser(uid: number, folder: string): Promise<OrdinaryUser> {
  const root = await Deno.makeTempDir({ prefix: "dsh-user-" });
  const checkout = fileURLToPath(new URL("../../", import.meta.url));
  const cache = await denoDir();
  await Deno.mkdir(join(root, "deno"));
  await run("cp", ["-R", ...SOURCE.map((name) => join(checkout, name)), root]);
  await run("cp", ["-R", join(cache, "npm"), join(root, "deno")]);
  await run("cp", [Deno.execPath(), join(root, "deno-bin")]);
  await run("chown", ["-R", `${uid}:${uid}`, root, folder]);
  const identity = ["--reuid", `${uid}`, "--regid", `${uid}`, "--clear-groups"];
  return {
    command: [
      "setpriv",
      ...identity,
      join(root, "deno-bin"),
      "run",
      "-A",
      "--no-lock",
      "--cached-only",
      join(root, "mod.ts"),
    ],
    env: { DENO_DIR: join(root, "deno") },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-config"],
    stdin: "null",
    stderr: "null",
  }).output();
  return String(JSON.parse(new TextDecoder().decode(stdout)).denoDir);
}

async function run(program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args, stdout: "null" }).output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr)}`);
}
