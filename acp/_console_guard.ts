/** Stdout, for the program alone. */
export interface Stdout {
  /** Takes whole frames, one after the other. */
  readonly frames: WritableStream<Uint8Array>;
  /** Writes text for a person, where no frames are written. */
  writeSync(bytes: Uint8Array): number;
}

/**
 * Keeps stdout for frames: what tools and libraries print goes to stderr instead. Called once by
 * the program, never by a library.
 */
export function guardStdout(): Stdout {
  const write = Deno.stdout.write.bind(Deno.stdout);
  const writeSync = Deno.stdout.writeSync.bind(Deno.stdout);
  const toStderr = Deno.stderr.write.bind(Deno.stderr);
  const toStderrSync = Deno.stderr.writeSync.bind(Deno.stderr);
  for (const name of ["log", "info", "debug", "table", "dir", "group"] as const) {
    // deno-lint-ignore no-console -- nothing is printed: what others print is sent to stderr
    console[name] = console.error;
  }
  Deno.stdout.write = toStderr;
  Deno.stdout.writeSync = toStderrSync;
  const frames = new WritableStream<Uint8Array>({
    async write(frame) {
      for (let sent = 0; sent < frame.length;) sent += await write(frame.subarray(sent));
    },
  });
  return { frames, writeSync };
}
