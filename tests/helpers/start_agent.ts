/** The program under test in a world of its own: workspace, home, data folder, environment. */
import { join } from "node:path";
import type { JsonObject } from "../../tools/json.ts";
import { AcpClient, type AcpClientOptions } from "./acp_client.ts";
import type { ModelServer } from "./model_server.ts";

/** Options for {@linkcode startAgent}. */
export interface StartAgentOptions {
  /** Plays the model. Without it the program has no key and no model. */
  readonly model?: ModelServer;
  /** Which provider is pointed at `model`. @default {"deepseek"} */
  readonly provider?: "deepseek" | "openai";
  /** Files of the workspace, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Added to the environment, or taken from it where undefined. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Parameters of `initialize`, or false to leave it to the test. */
  readonly initialize?: JsonObject | false;
  /** Passed on to the client. */
  readonly client?: AcpClientOptions;
}

/** A running program and its world. Disposal ends every process it started and removes its files. */
export interface AgentWorld extends AsyncDisposable {
  readonly client: AcpClient;
  /** An absolute folder, links resolved. */
  readonly workspace: string;
  /** `HOME` of the program; holds its data folder. */
  readonly home: string;
  /** The file of the event log. */
  readonly kv: string;
  readonly env: Readonly<Record<string, string>>;
  /** Starts one more process in the same world: after `client.close()`, a restart. */
  spawn(options?: AcpClientOptions): Promise<AcpClient>;
  /** Opens a session in the workspace and returns its id. */
  newSession(params?: JsonObject): Promise<string>;
  /** The absolute path of a workspace file. */
  path(relative: string): string;
}

/** The names the program inherits: what Deno needs to start and to reach npm, and a PATH. */
const INHERITED: readonly string[] = [
  "PATH",
  "DENO_DIR",
  "DENO_COVERAGE_DIR",
  "NO_COLOR",
  "TMPDIR",
  "LANG",
  "JSR_URL",
  "NPM_CONFIG_REGISTRY",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
  "SystemRoot",
  "TEMP",
  "TMP",
];

/**
 * Makes a workspace and starts the program in it, initialized.
 *
 * @example
 * ```ts ignore
 * await using model = ModelServer.start([answer(text("Hello"))]);
 * await using agent = await startAgent({ model });
 * const sessionId = await agent.newSession();
 * await agent.client.prompt(sessionId, "hi");
 * ```
 */
export async function startAgent(options: StartAgentOptions = {}): Promise<AgentWorld> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "dsh-acp-test-" }));
  const workspace = join(root, "workspace");
  const home = join(root, "home");
  const kv = join(home, "data", "sessions.kv");
  for (const folder of [workspace, join(home, "data")]) {
    await Deno.mkdir(folder, { recursive: true });
  }
  for (const [name, content] of Object.entries(options.files ?? {})) {
    await Deno.mkdir(join(workspace, name, ".."), { recursive: true });
    await Deno.writeTextFile(join(workspace, name), content);
  }
  const env = await environment(options, home, kv);
  const clients: AcpClient[] = [];
  const spawn = async (more: AcpClientOptions = {}): Promise<AcpClient> => {
    const client = AcpClient.spawn({ cwd: workspace, env, ...options.client, ...more });
    clients.push(client);
    if (options.initialize !== false) await client.initialize(options.initialize ?? {});
    return client;
  };
  const dispose = async (): Promise<void> => {
    const ends = await Promise.allSettled(clients.map((one) => one[Symbol.asyncDispose]()));
    await Deno.remove(root, { recursive: true });
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  };
  try {
    const client = await spawn();
    return {
      client,
      workspace,
      home,
      kv,
      env,
      spawn,
      newSession: (params) => client.newSession(workspace, params),
      path: (relative) => join(workspace, relative),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose().catch(() => {
      // The first error says more than what follows from it.
    });
    throw error;
  }
}

async function environment(
  options: StartAgentOptions,
  home: string,
  kv: string,
): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = Deno.env.get(name);
    if (value !== undefined) env[name] = value;
  }
  // With another HOME, Deno would look for its cache in an empty place.
  env["DENO_DIR"] ??= await denoDir();
  env["HOME"] = home;
  env["XDG_DATA_HOME"] = join(home, "data");
  env["DSH_KV"] = kv;
  if (options.model) Object.assign(env, modelEnvironment(options.model.url, options.provider));
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  return env;
}

function modelEnvironment(
  url: string,
  provider: "deepseek" | "openai" = "deepseek",
): Record<string, string> {
  switch (provider) {
    case "deepseek":
      return { DEEPSEEK_BASE_URL: url, DEEPSEEK_API_KEY: "test-key" };
    case "openai":
      return { OPENAI_BASE_URL: url, OPENAI_API_KEY: "test-key", DSH_MODEL: "openai/scripted" };
    default: {
      const never: never = provider;
      throw new TypeError(`Unknown provider ${never}`);
    }
  }
}

let cachedDenoDir: Promise<string> | undefined;

function denoDir(): Promise<string> {
  cachedDenoDir ??= (async () => {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--no-config"],
      stdin: "null",
      stderr: "null",
    }).output();
    return String(JSON.parse(new TextDecoder().decode(stdout)).denoDir);
  })();
  return cachedDenoDir;
}
