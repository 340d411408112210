/** The program: reads its surroundings, puts the parts together, serves until stdin closes. */
import packageInfo from "../deno.json" with { type: "json" };
import { serverEnvironment, serverProblem } from "./_mcp_grants.ts";
import { type CatalogueConfig, catalogueConfigFromEnv } from "../session/model/catalogue_config.ts";
import { helpText } from "./_command_line.ts";
import type { Stdout } from "./_console_guard.ts";
import { canRunCommands, containmentNotice } from "./_containment_notice.ts";
import {
  credentialsFolder,
  credentialsPath,
  openCredentialsFolder,
  openDataFolder,
  storeFiles,
  storePath,
} from "./_data_folder.ts";
import { type Grants, type PermissionQuery, readEnvironment, readGrants } from "./_grants.ts";
import type { Plugins } from "./_plugins.ts";
import { processLookup } from "./_process_identity.ts";
import { removeSessionFiles, sessionFolderPrefix } from "./_session_files.ts";
import { offeredPresets, sessionPolicy } from "./_session_policy.ts";
import { AUTH_METHODS } from "./_auth_methods.ts";
import { directories } from "./_directories.ts";
import { type BridgeServices, connectBridge } from "./bridge.ts";
import { internalError } from "./errors.ts";
import { type CommandInvocation, readSettings, type Settings } from "./settings.ts";
import { stdioStream } from "./stdio_stream.ts";

/** How long the sessions may take to end once the client is gone, in milliseconds. */
const SHUTDOWN_MS = 1_700;

const FULL_ACCESS = "danger-full-access";

const granted: PermissionQuery = (descriptor) =>
  Deno.permissions.querySync(descriptor).state === "granted";

/** Runs the program to its end and exits the process. */
export async function serve(stdout: Stdout): Promise<void> {
  const print = (text: string): void => {
    try {
      stdout.writeSync(new TextEncoder().encode(text));
    } catch (error) {
      // Whoever closed the pipe, as `head` does, has read enough.
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
    }
  };
  const env = readEnvironment(granted, {
    all: () => Deno.env.toObject(),
    get: (name) => Deno.env.get(name),
  });
  const invocation = readSettings({ args: Deno.args, env, os: Deno.build.os });
  switch (invocation.type) {
    case "help":
      return print(`${helpText()}\n`);
    case "version":
      return print(`dsh-acp ${packageInfo.version}\n`);
    case "invalid":
      complain(invocation.message);
      return Deno.exit(2);
    case "command":
    case "completions":
    case "program":
    case "doctor":
      return Deno.exit(await runCommand(invocation, { env, stdout, print }));
    case "serve": {
      const { model } = invocation.settings;
      const models = catalogueConfigFromEnv(env, model === undefined ? {} : { model });
      if (models.type === "invalid") {
        models.problems.forEach(complain);
        return Deno.exit(2);
      }
      const grants = readGrants(granted, Deno.build.os);
      const problem = permissionModeProblem(invocation.settings, grants);
      if (problem !== undefined) {
        complain(problem);
        return Deno.exit(2);
      }
      const settings = { ...invocation.settings, kv: storePath(invocation.settings.kv) };
      return Deno.exit(
        await serveStdio({
          settings,
          env,
          grants,
          images: takesImages(models.config),
          frames: stdout.frames,
        }),
      );
    }
  }
}

/** Does what was asked for instead of serving. Resolves with the exit code. */
async function runCommand(
  invocation: CommandInvocation,
  { env, stdout, print }: {
    readonly env: Readonly<Record<string, string>>;
    readonly stdout: Stdout;
    readonly print: (text: string) => void;
  },
): Promise<number> {
  const command = await later("./_run_command.ts").catch((error: Error) => {
    // A checkout without --allow-read.
    const [reason] = error.message.split(", run again");
    const what = `Deno gives no access to the program's own files (${reason}): add --allow-read`;
    if (invocation.type !== "doctor") return complain(what);
    print(`fail  permissions  ${what}\n`);
  });
  if (!command) return 1;
  return await command.runCommand(invocation, {
    env,
    granted,
    query: (descriptor) => Deno.permissions.querySync(descriptor),
    version: packageInfo.version,
    cwd: Deno.cwd,
    now: Date.now,
    stdin: Deno.stdin,
    stdout: Deno.stdout,
    print,
    write: (bytes) => stdout.writeSync(bytes),
    writeError: (bytes) => Deno.stderr.writeSync(bytes),
    complain,
    build: Deno.build,
    program: {
      execPath: Deno.execPath,
      mainModule: Deno.mainModule,
      denoVersion: Deno.version.deno,
      hasKv: "openKv" in Deno,
    },
    columns: () => Deno.consoleSize().columns,
    onSignal: (told) => {
      for (const [signal] of exitSignals()) Deno.addSignalListener(signal, () => told(signal));
    },
    async probeSandbox(avoid) {
      const { SandboxProbe } = await later("../bash/mod.ts");
      return await new SandboxProbe({ os: Deno.build.os, path: env["PATH"] ?? "", avoid }).runner();
    },
  });
}

/** What the program was started with. */
interface Start {
  /** Stdout, for frames and nothing else. */
  readonly frames: WritableStream<Uint8Array>;
  readonly settings: Settings;
  readonly env: Record<string, string>;
  readonly grants: Grants;
  /** Whether the default model takes images, as far as the environment tells. */
  readonly images: boolean;
}

/** Serves one client on stdio. Resolves with the exit code when everything is ended. */
async function serveStdio(start: Start): Promise<number> {
  const report = start.settings.debug
    ? (error: unknown) => complain(error instanceof Error ? error.stack ?? error.message : error)
    : () => {};
  const resources = new AsyncDisposableStack();
  const bridge = connectBridge(stdioStream(Deno.stdin.readable, start.frames), {
    agentInfo: { name: "dsh-acp", title: "DSH", version: packageInfo.version },
    authMethods: AUTH_METHODS,
    directories,
    images: start.images,
    report,
    ...(start.settings.debug && { trace: complain }),
    services: () => openServices(start, resources, report),
  });
  const code = await Promise.race([
    exitSignal(),
    bridge.connection.closed.then(() => {
      const { reason } = bridge.connection.signal;
      if (!isFailure(reason)) return 0;
      complain(`the connection ended: ${reason instanceof Error ? reason.message : reason}`);
      return 1;
    }),
  ]);
  const ended = await Promise.race([
    // The bridge first: it still writes the ends of its turns.
    bridge[Symbol.asyncDispose]().then(() => resources.disposeAsync()).then(() => true),
    new Promise<false>((resolve) => setTimeout(() => resolve(false), SHUTDOWN_MS)),
  ]);
  if (!ended) complain("some sessions did not end in time");
  return code;
}

function takesImages({ models, defaultModel }: CatalogueConfig): boolean {
  return models.some(({ provider, model, images }) =>
    images && provider === defaultModel?.provider && model === defaultModel.model
  );
}

/** Puts the agent together. Everything here is loaded at the first session, not at the start. */
async function openServices(
  { settings, env, grants }: Start,
  resources: AsyncDisposableStack,
  report: (error: unknown) => void,
): Promise<BridgeServices> {
  const [session, { LoginCatalogue }, tools, bash] = await Promise.all([
    later("../session/mod.ts"),
    later("./_login_catalogue.ts"),
    later("../tools/mod.ts"),
    later("../bash/mod.ts"),
  ]);
  const folder = await openDataFolder(settings, grants);
  if (folder.type !== "ready") complain(folder.message);
  if (folder.type === "failed") throw internalError(folder.message);
  // Where it cannot be made, nothing can be stored in it.
  if (folder.type === "ready") await openCredentialsFolder(settings.dataDirectory);
  const store = await session.openSessionStore({
    path: settings.kv,
    token: settings.kvToken,
    timeoutMs: settings.kvTimeoutMs,
    now: Date.now,
    onFault: report,
    lease: await processLookup(granted),
  });
  resources.use(store);
  const approvals = new session.ApprovalService();
  const catalogue = new LoginCatalogue({
    env,
    model: settings.model,
    credentialsPath: credentialsPath(settings.dataDirectory),
    complain,
  });
  const path = env["PATH"] ?? "";
  const parser = await bash.loadShellParser();
  let noticed = false;
  let plugins: Promise<Plugins> | undefined;
  const agents = session.agentFactory({
    store,
    approvals,
    models: catalogue,
    defaults: { preset: settings.permissionMode, presets: session.PERMISSION_PRESETS },
    presetsFor: ({ cwd }) => offeredPresets(session.PERMISSION_PRESETS, grants, cwd),
    onFault: report,
    policyFor: ({ cwd }, { directories = [] }) => {
      for (const path of [cwd, ...directories]) {
        if (!grants.canWrite(path)) complain(`"${path}" is read-only: add it to --allow-write`);
      }
      const ownPaths = [settings.dataDirectory, ...storeFiles(settings.kv)];
      const secretPaths = [credentialsFolder(settings.dataDirectory)];
      const options = { grants, network: settings.network, ownPaths, secretPaths };
      return sessionPolicy(options, cwd, directories);
    },
    toolsFor: async (header, { interaction, mcpServers = [], directories = [] }) => {
      const registry = new tools.ToolRegistry();
      // What is started outside the sandbox must not be what a command has put on the PATH.
      const avoid = [header.cwd, ...directories];
      const ripgrep = tools.findProgram("rg", path, avoid) ?? false;
      for (const tool of tools.fileTools({ ripgrep })) registry.register(tool);
      registry.register(tools.todoWriteTool());
      if (settings.webFetch !== "off" && settings.network === "on" && granted({ name: "net" })) {
        const privateAddresses = settings.webFetch === "any";
        registry.register(tools.webFetchTool({ privateAddresses }));
      }
      const probe = new bash.SandboxProbe({ os: Deno.build.os, path, avoid });
      const found = probe.runner();
      if (!noticed) void found.then((runner) => complain(containmentNotice(grants, runner)));
      noticed = true;
      // Bash by itself can be run whatever the probe finds, so nobody waits for it then.
      if (grants.bareBash || canRunCommands(grants, await found)) {
        bash.registerBashTools(registry, {
          env,
          probe,
          parser,
          tempRoot: settings.dataDirectory,
          folderPrefix: sessionFolderPrefix(header.id),
        });
      }
      if (interaction) {
        registry.register(
          tools.askUserQuestionTool(interaction, { timeoutMs: settings.questionTimeoutMs }),
        );
      }
      if (settings.plugins.length > 0) {
        plugins ??= later("./_plugins.ts").then(({ Plugins }) =>
          new Plugins({
            names: settings.plugins,
            cwd: Deno.cwd(),
            standalone: Deno.build.standalone,
            granted,
            approvals,
            complain,
          })
        );
        await (await plugins).addTo(registry);
      }
      if (mcpServers.length > 0) {
        const { connectServers } = await later("../tools/mcp/connect_servers.ts");
        connectServers(registry, mcpServers, {
          cwd: header.cwd,
          avoid,
          env: serverEnvironment(env, catalogue.keys),
          version: packageInfo.version,
          problem: (server) => serverProblem(server, granted),
          ...(settings.debug && { log: complain }),
        });
      }
      return registry;
    },
  });
  return {
    agents,
    store,
    removeFiles: (sessionId) => removeSessionFiles(settings.dataDirectory, sessionId),
    approvals,
    async modelProblem() {
      const resolved = await catalogue.resolve(undefined);
      return resolved.type === "ready" ? undefined : resolved.message;
    },
  };
}

/**
 * What is not needed for the first answer. Deno reads ahead what the literal of a dynamic import
 * names, with all that it imports in turn: half as much again as the whole start. So these paths are
 * no literals at the import, and who packs the program has to be told of them.
 */
interface LaterModules {
  readonly "../bash/mod.ts": typeof import("../bash/mod.ts");
  readonly "../session/mod.ts": typeof import("../session/mod.ts");
  readonly "../tools/mcp/connect_servers.ts": typeof import("../tools/mcp/connect_servers.ts");
  readonly "../tools/mod.ts": typeof import("../tools/mod.ts");
  readonly "./_run_command.ts": typeof import("./_run_command.ts");
  readonly "./_login_catalogue.ts": typeof import("./_login_catalogue.ts");
  readonly "./_plugins.ts": typeof import("./_plugins.ts");
}

/** Imports one of them. */
export function later<Path extends keyof LaterModules>(path: Path): Promise<LaterModules[Path]> {
  return import(path);
}

/** Why sessions cannot start with the permission mode that was asked for. */
function permissionModeProblem(
  { permissionMode }: Settings,
  { noFullAccess }: Grants,
): string | undefined {
  if (permissionMode !== FULL_ACCESS || noFullAccess === undefined) return undefined;
  return `--permission-mode (DSH_PERMISSION_MODE) cannot be ${FULL_ACCESS}: ${noFullAccess}`;
}

/** Resolves with the exit code when the process is told to end. */
function exitSignal(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const [signal, code] of exitSignals()) Deno.addSignalListener(signal, () => resolve(code));
  return promise;
}

/** The signals that end a program on this system, and the exit codes that say so. */
function exitSignals(): readonly (readonly ["SIGINT" | "SIGTERM" | "SIGHUP", number])[] {
  return Deno.build.os === "windows"
    ? [["SIGINT", 130]]
    : [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]];
}

/** The SDK gives a reason for every close; a closed stdin is the ordinary end. */
function isFailure(reason: unknown): boolean {
  return reason instanceof Error && !/closed|ended/i.test(reason.message);
}

function complain(message: unknown): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`dsh-acp: ${message}\n`));
}
