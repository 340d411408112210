/** Paths as text: no file system, no operating system, so that it works in any runtime. */

/** Makes a path absolute against `cwd`, with `.` and `..` resolved. An absolute path stays as it is. */
export function absolutePath(path: string, cwd: string): string {
  if (isAbsolutePath(path)) return path;
  const separator = separatorOf(cwd);
  const segments = cwd.split(separator);
  for (const segment of path.split(/[\\/]/)) {
    if (segment === "..") segments.pop();
    else if (segment !== "." && segment !== "") segments.push(segment);
  }
  return segments.join(separator) || separator;
}

/** Tells whether a path is absolute, in POSIX or Windows form. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith("/") || path.startsWith("\\\\") || /^[A-Za-z]:[\\/]/.test(path);
}

/** The path relative to `cwd` where it lies inside, otherwise unchanged. Segments count, not prefixes. */
export function relativePath(path: string, cwd: string): string {
  const separator = separatorOf(cwd);
  const root = cwd.endsWith(separator) ? cwd : cwd + separator;
  return path.startsWith(root) && path.length > root.length ? path.slice(root.length) : path;
}

/** Shortens each of `paths` that a title names and that lies inside `cwd`. */
export function relativeTitle(title: string, paths: readonly string[], cwd: string): string {
  return paths.reduce((text, path) => text.replace(path, () => relativePath(path, cwd)), title);
}

function separatorOf(cwd: string): "/" | "\\" {
  return cwd.startsWith("/") ? "/" : "\\";
}
