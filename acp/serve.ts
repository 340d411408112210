/** The program: reads its surroundings, puts the parts together, serves until stdin closes. */
import type { AuthMethod } from "@agentclientprotocol/sdk";
import packageInfo from "../deno.json" with { type: "json" };
import { serverEnvironment, serverProblem } from "./_mcp_grants.ts";
import { type CatalogueConfig, catalogueConfigFromEnv } from "../session/model/catalogue_config.ts";
import { helpText } from "./_command_line.ts";
import type { Stdout } from "./_console_guard.ts";
import { canRunCommands, containmentNotice } from "./_containment_notice.ts";
import { credentialsPath, openDataFolder, storeFiles, storePath } from "./_data_folder.ts";
import { type Grants, type PermissionQuery, readEnvironment, readGrants } from "./_grants.ts";
import { processLookup } from "./_process_identity.ts";
import { removeSessionFiles, sessionFolderPrefix } from "./_session_files.ts";
import { offeredPresets, sessionPolicy } from "./_session_policy.ts";
import { type BridgeServices, connectBridge, type DirectoryLookup } from "./bridge.ts";
import { internalError } from "./errors.ts";
import { type Invocation, readSettings, type Settings } from "./settings.ts";
import { stdioStream } from "./stdio_stream.ts";

/** How long the sessions may take to end once the client is gone, in milliseconds. */
const SHUTDOWN_MS = 1_700;

const FULL_ACCESS = "danger-full-access";

const AUTH_METHODS: readonly AuthMethod[] = [{
  type: "terminal",
  id: "login",
  name: "Log in",
  description: "Asks for a provider's key in a terminal and stores it for you alone",
  args: ["login"],
}, {
  id: "api-key",
  name: "API key in the environment",
  description: "Set DEEPSEEK_API_KEY, or OPENAI_BASE_URL and OPENAI_API_KEY, for the agent",
}];

const granted: PermissionQuery = (descriptor) =>
  Deno.permissions.querySync(descriptor).state === "granted";

/** Runs the program to its end and exits the process. */
export async function serve(stdout: Stdout): Promise<void> {
  const print = (text: string): void => {
    stdout.writeSync(new TextEncoder().encode(text));
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
    case "command": {
      if (invocation.name === "chat") return Deno.exit(await chat(invocation, env, stdout));
      const { runStoreCommand } = await later("./commands/run_store_command.ts");
      const { name, args, settings } = invocation;
      return Deno.exit(
        await runStoreCommand(name, args, {
          ...settings,
          now: Date.now,
          input: Deno.stdin.readable,
          output: Deno.stdout.writable,
          complain,
          print,
          lease: await processLookup(granted),
        }),
      );
    }
    case "completions": {
      const { completionsCommand } = await later("./commands/completions_command.ts");
      return Deno.exit(completionsCommand(invocation.args, { print, complain }));
    }
    case "program": {
      const { runProgramCommand } = await later("./commands/run_program_command.ts");
      const { name, args, settings } = invocation;
      const ask = (text: string): void => {
        Deno.stderr.writeSync(new TextEncoder().encode(text));
      };
      const keyboard = Deno.stdin;
      return Deno.exit(
        await runProgramCommand(name, args, { settings, env, granted, keyboard, ask, complain }),
      );
    }
    case "doctor": {
      const doctor = await later("./commands/doctor_command.ts").catch((error: Error) => {
        // A checkout without --allow-read: the first thing that is missing.
        const [reason] = error.message.split(", run again");
        print(
          `fail  permissions  Deno gives no access to the program's own files (${reason}): add --allow-read\n`,
        );
        return Deno.exit(1);
      });
      const { args, model, settings } = invocation;
      const avoid = granted({ name: "read" }) ? [Deno.cwd()] : [];
      return Deno.exit(
        await doctor.doctorCommand(args, {
          settings,
          model,
          env,
          os: Deno.build.os,
          denoVersion: Deno.version.deno,
          version: packageInfo.version,
          granted,
          grants: readGrants(granted, Deno.build.os),
          avoid,
          async probe() {
            const { SandboxProbe } = await later("../bash/mod.ts");
            const path = env["PATH"] ?? "";
            return await new SandboxProbe({ os: Deno.build.os, path, avoid }).runner();
          },
          complain,
          print,
        }),
      );
    }
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

/** Talks to the agent, which is a process of its own. Resolves with the exit code. */
async function chat(
  { args, flags }: Extract<Invocation, { type: "command" }>,
  env: Readonly<Record<string, string>>,
  stdout: Stdout,
): Promise<number> {
  const { runChat } = await later("./commands/chat/run_chat.ts");
  return await runChat(args, {
    program: {
      execPath: Deno.execPath(),
      mainModule: Deno.mainModule,
      standalone: Deno.build.standalone,
      hasKv: "openKv" in Deno,
    },
    flags,
    query: (descriptor) => Deno.permissions.querySync(descriptor),
    cwd: Deno.cwd(),
    stdin: Deno.stdin,
    stdout: (bytes) => stdout.writeSync(bytes),
    stderr: (bytes) => Deno.stderr.writeSync(bytes),
    isTerminal: Deno.stdout.isTerminal(),
    colour: !env["NO_COLOR"],
    columns: () => Deno.consoleSize().columns,
    onSignal: (told) => {
      for (const [signal] of exitSignals()) Deno.addSignalListener(signal, () => told(signal));
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
      const secretPaths = [credentialsPath(settings.dataDirectory)];
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
  readonly "./commands/chat/run_chat.ts": typeof import("./commands/chat/run_chat.ts");
  readonly "./_login_catalogue.ts": typeof import("./_login_catalogue.ts");
  readonly "./commands/completions_command.ts": typeof import("./commands/completions_command.ts");
  readonly "./commands/doctor_command.ts": typeof import("./commands/doctor_command.ts");
  readonly "./commands/run_program_command.ts": typeof import("./commands/run_program_command.ts");
  readonly "./commands/run_store_command.ts": typeof import("./commands/run_store_command.ts");
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

const directories: DirectoryLookup = {
  async kind(path) {
    try {
      return (await Deno.stat(path)).isDirectory ? "directory" : "other";
    } catch {
      // Missing, or closed to this program: either way no place to work in.
      return "missing";
    }
  },
  async realPath(path) {
    try {
      return await Deno.realPath(path);
    } catch {
      // Its stored form is all there is to compare.
      return path;
    }
  },
};

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
