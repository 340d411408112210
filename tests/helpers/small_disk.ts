/** A file system of a few hundred KiB that a test can fill, or make read-only. */

/** A mounted tmpfs. Disposal unmounts it. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Remounts it, read-only or not. */
  remount(options: "ro" | "rw"): Promise<void>;
}

/** Mounts one, or says why that cannot be done here. */
export async function smallDisk(kibibytes: number): Promise<SmallDisk | string> {
  if (Deno.build.os !== "linux") return "only on Linux";
  if (Deno.uid() !== 0) return "needs root to mount a file system";
  const path = await Deno.makeTempDir();
  const problem = await mount(["-t", "tmpfs", "-o", `size=${kibibytes}k`, "tmpfs", path]);
  if (problem !== undefined) {
    await Deno.remove(path);
    return problem;
  }
  return {
    path,
    remount: async (options) => {
      const problem = await mount(["-o", `remount,${options}`, path]);
      if (problem !== undefined) throw new Error(problem);
    },
    [Symbol.asyncDispose]: async () => {
      await new Deno.Command("umount", { args: ["-l", path] }).output();
      await Deno.remove(path);
    },
  };
}

async function mount(args: readonly string[]): Promise<string | undefined> {
  try {
    const { success, stderr } = await new Deno.Command("mount", { args: [...args] }).output();
    return success ? undefined : `mount: ${new TextDecoder().decode(stderr).trim()}`;
  } catch (error) {
    return `mount: ${error instanceof Error ? error.message : error}`;
  }
}
