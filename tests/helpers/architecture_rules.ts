/** The rules of the source tree, as functions from modules to lines that say what breaks them. */
import { cycles, type Import, type Module } from "./modules.ts";

/** What a folder may import from, besides itself. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  "tools": [],
  "session": ["tools"],
  "bash": ["tools"],
  "acp": ["session", "tools"],
};
/** Where everything is put together. */
const COMPOSERS: readonly string[] = ["acp/serve.ts", "mod.ts"];
/** What is loaded before the first answer. */
const START = "acp/serve.ts";
const SDK = "@agentclientprotocol/sdk";
const MAX_LINES = 400;
const IMPURE =
  /\b(?:Deno|performance|process|console|fetch|crypto|setTimeout|setInterval|navigator)\b\s*[.(\[]|\bDate\.now\b|\bDate\(\)|\bglobalThis\b|\bMath\.random\b/;

type Rule = (modules: readonly Module[]) => string[];

/** The rules for source modules, by what they hold. */
export const SOURCE_RULES: Readonly<Record<string, Rule>> = {
  "arrows point one way": eachImport(({ path }, { target }) => {
    const from = folder(path);
    const to = folder(target);
    if (COMPOSERS.includes(path) || !(to in ARROWS) || from === to) return false;
    return !ARROWS[from]?.includes(to);
  }),
  "source imports no tests": eachImport((_, { target }) => folder(target) === "tests"),
  "only acp/ knows the protocol": eachImport(({ path }, { target }) =>
    folder(path) !== "acp" && path !== "mod.ts" && (target === SDK || target.startsWith(`${SDK}/`))
  ),
  "acp/mapper/ and what it runs are pure": (modules) => {
    const reached = runtimeClosure(modules.filter(({ path }) => inMapper(path)), modules);
    return reached.flatMap(({ path, code, imports }) => [
      ...imports.filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith("."))
        .map(({ specifier }) => `${path} imports "${specifier}"`),
      ...code.split("\n").filter((line) => IMPURE.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    ]);
  },
  "acp/mapper/ runs only its own modules and those of tools/": eachImport((
    { path },
    { target, typeOnly },
  ) => inMapper(path) && !typeOnly && !inMapper(target) && folder(target) !== "tools"),
  "the start needs nothing but its own modules and the protocol": (modules) => {
    const reached = runtimeClosure(modules.filter(({ path }) => path === START), modules);
    return reached.flatMap(({ path, imports }) =>
      imports.filter(({ specifier, typeOnly }) =>
        !typeOnly && !specifier.startsWith(".") && specifier !== SDK
      ).map(({ specifier }) => `${path} imports "${specifier}"`)
    );
  },
  "a folder does not import its own barrel": eachImport(({ path }, { target }) =>
    /(^|\/)mod\.ts$/.test(target) && path.startsWith(target.replace(/mod\.ts$/, ""))
  ),
  "no jsr:, http: or https: module is named": eachImport((_, { target }) =>
    /^(jsr|https?):/.test(target)
  ),
  "nothing prints": (modules) =>
    modules.filter(({ code }) => /\bconsole\s*(\.\s*\w+|\[[^\]]+\])\s*\(/.test(code)).map((
      { path },
    ) => path),
  "there are no cycles": cycles,
};

/** The rules for every TypeScript file, tests included. */
export const FILE_RULES: Readonly<Record<string, Rule>> = {
  [`files have at most ${MAX_LINES} lines`]: (modules) =>
    modules.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES).map(({ path, lines }) => `${path}: ${lines}`),
  "lines end in LF": (modules) =>
    modules.filter(({ text }) => text.includes("\r")).map(({ path }) => path),
  "files are named in snake_case": (modules) =>
    modules.map(({ path }) => path)
      .filter((path) => !/^_?[a-z0-9]+(_[a-z0-9]+)*\.ts$/.test(path.split("/").at(-1) ?? "")),
};

/** Which bare names source modules import that are not in `mapped`, or are mapped to jsr.io. */
export function unmappedNames(
  modules: readonly Module[],
  mapped: Readonly<Record<string, string>>,
): string[] {
  return eachImport((_, { specifier }) => {
    if (/^(\.|[a-z]+:)/.test(specifier)) return false;
    const name = Object.keys(mapped).find((one) =>
      specifier === one || specifier.startsWith(`${one}/`)
    );
    return name === undefined || mapped[name]?.startsWith("jsr:") === true;
  })(modules);
}

function eachImport(breaks: (module: Module, one: Import) => boolean): Rule {
  return (modules) =>
    modules.flatMap((module) =>
      module.imports.filter((one) => breaks(module, one))
        .map((one) => `${module.path} imports "${one.specifier}"`)
    );
}

function folder(path: string): string {
  return path.split("/")[0] ?? "";
}

/** The modules that run when these are imported, themselves included. */
function runtimeClosure(from: readonly Module[], all: readonly Module[]): Module[] {
  const reached = new Set(from);
  for (const module of reached) {
    for (const { target, typeOnly } of module.imports) {
      const next = typeOnly ? undefined : all.find(({ path }) => path === target);
      if (next) reached.add(next);
    }
  }
  return [...reached];
}

function inMapper(path: string): boolean {
  return path.startsWith("acp/mapper/");
}
