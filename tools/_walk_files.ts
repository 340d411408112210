/** Lists the files below a folder without help of another program. */
import { relative, sep } from "node:path";
import { isWithin } from "./check_write.ts";
import { toSlashes } from "./_search_root.ts";

/** How to walk. */
export interface WalkOptions {
  /** The folder, absolute. */
  readonly root: string;
  /** The outermost folder whose ignore files count: the working directory. */
  readonly ignoreFrom: string;
  /** List what `.gitignore` and `.ignore` exclude, too. */
  readonly includeIgnored: boolean;
  readonly signal: AbortSignal;
}

/** Folders of version control systems: never listed. */
export const VCS_FOLDERS: readonly string[] = [".git", ".hg", ".svn", ".jj", ".bzr", ".sl"];

const IGNORE_FILES = [".gitignore", ".ignore"];
/** Past this size an ignore file is not one. In bytes. */
const MAX_IGNORE_BYTES = 1024 * 1024;

/** What the ignore files of one folder say about a path below it. */
interface IgnoreRules {
  readonly folder: string;
  test(path: string): { readonly ignored: boolean; readonly unignored: boolean };
}

/**
 * Yields the absolute paths of regular files, folder by folder in order of name. Links are not
 * followed. Folders that cannot be read are passed over.
 */
export async function* walkFiles(options: WalkOptions): AsyncGenerator<string> {
  const outer = options.includeIgnored ? [] : await outerRules(options);
  yield* walk(options.root, outer, options);
}

async function* walk(
  folder: string,
  outer: readonly IgnoreRules[],
  options: WalkOptions,
): AsyncGenerator<string> {
  const entries = await readFolder(folder);
  const rules = options.includeIgnored ? [] : [...outer, ...await rulesOf(folder)];
  for (const { name, isDirectory, isFile } of entries) {
    options.signal.throwIfAborted();
    if (VCS_FOLDERS.includes(name) || !(isFile || isDirectory)) continue;
    const path = folder.endsWith(sep) ? folder + name : folder + sep + name;
    if (isIgnored(path, isDirectory, rules)) continue;
    if (isDirectory) yield* walk(path, rules, options);
    else yield path;
  }
}

async function readFolder(folder: string): Promise<Deno.DirEntry[]> {
  const entries: Deno.DirEntry[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) entries.push(entry);
  } catch {
    // Vanished or unreadable: a search shows what it can reach, as ripgrep does.
  }
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

function isIgnored(path: string, isFolder: boolean, rules: readonly IgnoreRules[]): boolean {
  for (const rule of rules.toReversed()) {
    const inside = toSlashes(relative(rule.folder, path));
    const verdict = rule.test(isFolder ? `${inside}/` : inside);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}

/** The rules of the folders between the working directory and the searched folder. */
async function outerRules({ root, ignoreFrom }: WalkOptions): Promise<IgnoreRules[]> {
  const inside = relative(ignoreFrom, root);
  if (inside === "" || !isWithin(ignoreFrom, root)) return [];
  const rules: IgnoreRules[] = [];
  let folder = ignoreFrom;
  for (const name of inside.split(sep)) {
    rules.push(...await rulesOf(folder));
    folder += sep + name;
  }
  return rules;
}

async function rulesOf(folder: string): Promise<IgnoreRules[]> {
  const texts: string[] = [];
  for (const name of IGNORE_FILES) {
    const text = await readSmall(folder + sep + name);
    if (text !== undefined) texts.push(text);
  }
  if (texts.length === 0) return [];
  const { default: ignore } = await import("ignore");
  const matcher = ignore().add(texts.join("\n"));
  return [{ folder, test: (path) => matcher.test(path) }];
}

async function readSmall(path: string): Promise<string | undefined> {
  try {
    const info = await Deno.stat(path);
    if (!info.isFile || info.size > MAX_IGNORE_BYTES) return undefined;
    return await Deno.readTextFile(path);
  } catch {
    return undefined; // Most folders have none.
  }
}
