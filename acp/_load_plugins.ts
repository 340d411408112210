/** Loads plugins: what goes wrong with one is a sentence, and the others are used. */
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import { errorResult, textResult, type Tool } from "../tools/tool.ts";
import type { PermissionQuery } from "./_grants.ts";
import type { Plugin, PluginKit } from "./plugin.ts";

/** Where plugins are loaded. */
export interface PluginSurroundings {
  /** What relative paths are taken from, absolute. */
  readonly cwd: string;
  /** Whether this is an executable of `deno compile`. */
  readonly standalone: boolean;
  readonly granted: PermissionQuery;
}

/** A plugin, or why it is not used. */
export type LoadedPlugin =
  | { readonly type: "loaded"; readonly name: string; readonly plugin: Plugin }
  | { readonly type: "failed"; readonly message: string };

/** How long a plugin may take to load, in milliseconds. */
const DEADLINE = 10_000;

const KIT: PluginKit = { z, textResult, errorResult, tool: (tool) => tool as Tool };

/**
 * Loads one. Never rejects, and never hangs.
 *
 * @param name A path, relative ones with a dot in front, or a specifier that Deno resolves.
 */
export async function loadPlugin(
  name: string,
  surroundings: PluginSurroundings,
): Promise<LoadedPlugin> {
  const failed = (reason: string): LoadedPlugin => ({
    type: "failed",
    message: `Plugin "${name}" is not used: ${reason}`,
  });
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new PluginError(`it did not load within ${DEADLINE / 1_000} s`)),
    DEADLINE,
  );
  try {
    return { type: "loaded", name, plugin: await Promise.race([load(name, surroundings), late]) };
  } catch (error) {
    if (error instanceof PluginError) return failed(error.message);
    const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return failed(`${line || "it failed without a reason"}${hint(name)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** What is wrong with a plugin, in words for its author. */
class PluginError extends Error {}

async function load(name: string, surroundings: PluginSurroundings): Promise<Plugin> {
  const module = await importModule(name, surroundings) as Record<string, unknown>;
  const exported = module["default"] ?? module["plugin"];
  if (exported === undefined) throw new PluginError('it has no default export and none "plugin"');
  return checked(typeof exported === "function" ? await exported(KIT) : exported);
}

async function importModule(name: string, surroundings: PluginSurroundings): Promise<unknown> {
  const specifier = await specifierOf(name, surroundings);
  return await import(specifier);
}

async function specifierOf(
  name: string,
  { cwd, standalone, granted }: PluginSurroundings,
): Promise<string> {
  const url = fileUrl(name, cwd);
  if (url === undefined) {
    if (!standalone) return name;
    throw new PluginError("an executable loads plugins from files only, by their path");
  }
  const path = fileURLToPath(url);
  if (!granted({ name: "read", path })) {
    throw new PluginError(`Deno may not read it: add ${path} to --allow-read`);
  }
  return standalone ? await dataUrl(path) : url.href;
}

/**
 * An executable has no modules but its own, and no compiler: its Deno answers "Module not found" for
 * a file. It does take a `data:` URL, which can hold one module of plain JavaScript.
 */
async function dataUrl(path: string): Promise<string> {
  if (!/\.m?js$/.test(path)) {
    throw new PluginError(
      "an executable loads one file of JavaScript, .js or .mjs, that imports nothing: " +
        "`deno bundle` makes it",
    );
  }
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(await Deno.readTextFile(path))}`;
}

/** Undefined for what is no path: Deno finds it. */
function fileUrl(name: string, cwd: string): URL | undefined {
  if (name.startsWith("file:")) return new URL(name);
  return isAbsolute(name) || /^\.{1,2}[\\/]/.test(name)
    ? pathToFileURL(resolve(cwd, name))
    : undefined;
}

function hint(name: string): string {
  return /^[\w-][^:]*\.[cm]?[jt]s$/.test(name)
    ? `. A file is named with ./ in front: ./${name}`
    : "";
}

const FIELDS = ["tools", "approve"];

function checked(value: unknown): Plugin {
  if (typeof value !== "object" || value === null) {
    throw new PluginError(`it must be an object with tools or approve; it is ${describe(value)}`);
  }
  const unknown = Object.keys(value).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) {
    throw new PluginError(`it has "${unknown}"; a plugin has ${FIELDS.join(" and ")}`);
  }
  const { tools = [], approve } = value as { tools?: unknown; approve?: unknown };
  if (!Array.isArray(tools)) {
    throw new PluginError(`tools must be a list; it is ${describe(tools)}`);
  }
  tools.forEach(checkTool);
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new PluginError(`it has two tools called "${twice}"`);
  if (approve !== undefined && typeof approve !== "function") {
    throw new PluginError(`approve must be a function; it is ${describe(approve)}`);
  }
  return value as Plugin;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const OPTIONAL = ["authorize", "presentCall", "presentResult"];

function checkTool(tool: unknown, index: number): void {
  if (typeof tool !== "object" || tool === null) {
    throw new PluginError(`tools[${index}] must be an object; it is ${describe(tool)}`);
  }
  const { name, description, parameters, concurrency, inputSchema, execute, ...rest } =
    tool as Record<string, unknown>;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new PluginError(
      `tools[${index}].name must match ${NAME.source}; it is ${describe(name)}`,
    );
  }
  const wrong = (field: string, rule: string, is: unknown) =>
    new PluginError(`${field} of the tool "${name}" must be ${rule}; it is ${describe(is)}`);
  if (typeof description !== "string" || description === "") {
    throw wrong("description", "a text", description);
  }
  if (!isSchema(parameters)) throw wrong("parameters", "a zod schema", parameters);
  if (typeof execute !== "function") throw wrong("execute", "a function", execute);
  if (![undefined, "parallel", "exclusive"].includes(concurrency as string)) {
    throw wrong("concurrency", "parallel or exclusive", concurrency);
  }
  for (const field of OPTIONAL) {
    const is = rest[field];
    if (is !== undefined && typeof is !== "function") throw wrong(field, "a function", is);
  }
  if (inputSchema !== undefined) return;
  try {
    // What would otherwise fail at each request to the model.
    z.toJSONSchema(parameters, { io: "input" });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PluginError(
      `parameters of the tool "${name}" cannot be written as JSON Schema (${reason}); ` +
        "use the zod that the plugin is given, or zod 4",
    );
  }
}

function isSchema(value: unknown): value is z.ZodType {
  return typeof value === "object" && value !== null && "safeParse" in value;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  return Array.isArray(value) ? "a list" : typeof value;
}
