/**
 * Keeps stdout for frames: what tools and libraries print goes to stderr instead. Called once by
 * the program, never by a library.
 */
export function guardStdout(): WritableStream<Uint8Array> {
  const write = Deno.stdout.write.bind(Deno.stdout);
  const toStderr = Deno.stderr.write.bind(Deno.stderr);
  const toStderrSync = Deno.stderr.writeSync.bind(Deno.stderr);
  for (const name of ["log", "info", "debug", "table", "dir", "group"] as const) {
    // deno-lint-ignore no-console -- nothing is printed: what others print is sent to stderr
    console[name] = console.error;
  }
  Deno.stdout.write = toStderr;
  Deno.stdout.writeSync = toStderrSync;
  return new WritableStream({
    async write(frame) {
      for (let sent = 0; sent < frame.length;) sent += await write(frame.subarray(sent));
    },
  });
}
