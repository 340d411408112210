/** The modules of this checkout and what they import, read from their text. */
import { posix } from "node:path";

/** One import, re-export or dynamic import. */
export interface Import {
  /** As written. */
  readonly specifier: string;
  /** A path relative to the checkout for a relative specifier; otherwise the specifier. */
  readonly target: string;
  /** Whether it is erased before the program runs. */
  readonly typeOnly: boolean;
}

/** One TypeScript file. */
export interface Module {
  /** Relative to the checkout, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text without its comment lines: examples in them are no code. */
  readonly code: string;
  readonly imports: readonly Import[];
}

const FROM =
  /^[ \t]*(?:import|export)\s+(type\s+)?((?:\*[^"';]*?)|(?:[^"';(]*?))\s*from\s*["']([^"']+)["']/gm;
const BARE = /^[ \t]*import\s*["']([^"']+)["']/gm;
const DYNAMIC = /\bimport\(\s*["'`]([^"'`]+)["'`]/g;

/** Makes a module of a path and a text. */
export function parseModule(path: string, text: string): Module {
  const code = text.split("\n").filter((line) => !/^\s*(\/\/|\/\*|\*)/.test(line)).join("\n");
  const imports: Import[] = [];
  const add = (specifier: string, typeOnly: boolean): void => {
    const target = specifier.startsWith(".")
      ? posix.join(posix.dirname(path), specifier)
      : specifier;
    imports.push({ specifier, target, typeOnly });
  };
  for (const [, type, names = "", specifier = ""] of code.matchAll(FROM)) {
    add(specifier, type !== undefined || namesOnlyTypes(names));
  }
  for (const [, specifier = ""] of code.matchAll(BARE)) add(specifier, false);
  for (const [, specifier = ""] of code.matchAll(DYNAMIC)) {
    add(specifier, isTypeQuery(code, specifier));
  }
  return { path, text, code, imports };
}

/** Reads every TypeScript file under these folders or files of the checkout. */
export async function readModules(
  root: URL,
  entries: readonly string[],
): Promise<Module[]> {
  const modules: Module[] = [];
  for (const entry of entries) {
    for await (const path of files(root, entry)) {
      modules.push(parseModule(path, await Deno.readTextFile(new URL(path, root))));
    }
  }
  return modules.sort((a, b) => a.path < b.path ? -1 : 1);
}

async function* files(root: URL, entry: string): AsyncGenerator<string> {
  if (entry.endsWith(".ts")) {
    yield entry;
    return;
  }
  for await (const { name, isDirectory } of Deno.readDir(new URL(`${entry}/`, root))) {
    const path = `${entry}/${name}`;
    if (isDirectory) yield* files(root, path);
    else if (name.endsWith(".ts")) yield path;
  }
}

/** `{ type A, type B }` is erased; `{ A, type B }` is not. */
function namesOnlyTypes(names: string): boolean {
  const braced = /^\{([\s\S]*)\}$/.exec(names.trim());
  const list = braced?.[1]?.split(",").map((name) => name.trim()).filter((name) => name) ?? [];
  return list.length > 0 && list.every((name) => name.startsWith("type "));
}

/** `import("x").T` or `typeof import("x")` in a type position reads like a call. */
function isTypeQuery(code: string, specifier: string): boolean {
  const at = code.search(new RegExp(`import\\(\\s*["'\`]${RegExp.escape(specifier)}`));
  if (/\btypeof\s+$/.test(code.slice(0, at))) return true;
  const after = code.slice(at + 7).replace(/^[^)]*\)/, "");
  return /^\s*\.\s*[A-Z]/.test(after);
}

/** The shortest chain of imports that leads from a module back to itself, for each that has one. Type-only imports are erased and close no circle. */
export function cycles(modules: readonly Module[]): string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const found = new Set<string>();
  for (const { path } of modules) {
    const cycle = wayBack(path, byPath);
    // A cycle is reported once, from its first path.
    if (cycle && [...cycle].sort()[0] === path) found.add([...cycle, path].join(" -> "));
  }
  return [...found];
}

function wayBack(start: string, byPath: ReadonlyMap<string, Module>): string[] | undefined {
  const ways: string[][] = [[start]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way; way = ways.shift()) {
    for (const { target, typeOnly } of byPath.get(way.at(-1) ?? "")?.imports ?? []) {
      if (typeOnly) continue;
      if (target === start) return way;
      if (seen.has(target)) continue;
      seen.add(target);
      ways.push([...way, target]);
    }
  }
  return undefined;
}
