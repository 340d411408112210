/** Says in one sentence why the system refused a file operation. */

/** Turns an exception of a file operation into a message for the model. */
export function describeFileError(action: string, path: string, error: unknown): string {
  return `Cannot ${action} "${path}" as ${reason(error)}`;
}

function reason(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "it does not exist";
  if (error instanceof Deno.errors.NotCapable) {
    return `Deno was not granted the permission: ${error.message}`;
  }
  if (error instanceof Deno.errors.PermissionDenied) return "the system denies access";
  if (error instanceof Deno.errors.NotADirectory) return "a parent of it is not a folder";
  if (error instanceof Deno.errors.FilesystemLoop) return "its links lead in a circle";
  return `the system reports: ${error instanceof Error ? error.message : String(error)}`;
}

/** Names what a path is, for a message that says why it cannot be used. */
export function describeKind(info: Deno.FileInfo): string {
  if (info.isFile) return "a file";
  if (info.isDirectory) return "a folder";
  if (info.isSymlink) return "a link";
  if (info.isFifo) return "a named pipe";
  if (info.isSocket) return "a socket";
  if (info.isCharDevice || info.isBlockDevice) return "a device";
  return "not a regular file";
}
