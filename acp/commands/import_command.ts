import { importSession } from "../../session/import_session.ts";
import type { CommandSurroundings, StoreCommand } from "./store_command.ts";

/** `import FILE`: a session from a file that `export` wrote; `-` is stdin. */
export const importCommand: StoreCommand = async (args, store, surroundings) => {
  const { complain, print } = surroundings;
  const [path] = args;
  if (path === undefined || args.length > 1) {
    complain(`import needs one argument, a file or - for stdin; got ${args.length}`);
    return 2;
  }
  await using source = await openSource(path, surroundings);
  const result = await importSession(store, source.open);
  switch (result.type) {
    case "imported": {
      const { id, cwd } = result.header;
      print(
        `Imported the session ${id} of ${JSON.stringify(cwd)}: ${result.events} ${
          result.events === 1 ? "event" : "events"
        }\n`,
      );
      return 0;
    }
    case "exists":
      complain(
        `Cannot import the session ${result.id} as there is one of this id: delete it first`,
      );
      return 1;
    case "invalid":
      complain(
        `Cannot import "${path}" as its line ${result.line} is invalid: ${shown(result.problem)}`,
      );
      return 1;
    default: {
      const never: never = result;
      throw new TypeError(`Cannot report an unknown import: ${JSON.stringify(never)}`);
    }
  }
};

/** Quotes of the file must not steer a terminal, nor fill it. */
function shown(problem: string): string {
  const text = problem.replace(/\p{Cc}+/gu, " ");
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}

/** Something that can be read from its beginning more than once. */
interface Source extends AsyncDisposable {
  readonly open: () => Promise<ReadableStream<Uint8Array>>;
}

async function openSource(
  path: string,
  { input, dataDirectory }: Pick<CommandSurroundings, "input" | "dataDirectory">,
): Promise<Source> {
  if (path === "-") return await spool(input, dataDirectory);
  const file = await Deno.open(path);
  const { isFile, isDirectory } = await file.stat();
  if (isDirectory) {
    file.close();
    throw new Error(`Cannot import "${path}" as it is a folder`);
  }
  if (!isFile) return await spool(file.readable, dataDirectory);
  file.close();
  return {
    open: async () => (await Deno.open(path)).readable,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** A pipe can be read once, and may be longer than memory: it goes to a private file. */
async function spool(stream: ReadableStream<Uint8Array>, dir: string): Promise<Source> {
  const path = await Deno.makeTempFile({ dir, prefix: "dsh-import-" });
  const remove = () => Deno.remove(path);
  try {
    const file = await Deno.open(path, { write: true });
    await stream.pipeTo(file.writable);
  } catch (error) {
    await remove();
    throw error;
  }
  return { open: async () => (await Deno.open(path)).readable, [Symbol.asyncDispose]: remove };
}
