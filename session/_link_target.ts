/** The path of a file URI (RFC 8089), or any other URI as it is. */
export function linkTarget(uri: string): string {
  const path = /^file:\/\/(?:localhost)?(\/[^]*)$/.exec(uri)?.[1];
  return path === undefined ? uri : decodePath(path);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not percent-encoded: clients send plain paths as well.
    return path;
  }
}
