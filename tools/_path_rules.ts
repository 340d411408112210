/** What the file tools ask of a path, in the same words everywhere. */
import { basename, dirname } from "node:path";
import { z } from "zod";
import { type FileObservations, fileVersion } from "./file_observations.ts";

/** The schema of a path argument. */
export function pathSchema(description: string): z.ZodType<string> {
  return z.string().min(1, "must not be empty")
    .refine((path) => !path.includes("\0"), "must not contain a NUL character")
    .refine(
      (path) => path !== "~" && !path.startsWith("~/"),
      '"~" is not expanded: give an absolute path, or "./~" for a folder of that name',
    )
    .describe(description);
}

/** The error of a change to a file the session has not read. */
function unseenFile(action: "edit" | "write", path: string): string {
  return `Cannot ${action} "${path}" as an existing file must be read first: ` +
    "it was not read in this session. Read it, then try again";
}

/** The error of a change to a file that is no longer what the session read. */
export function staleFile(action: "edit" | "write", path: string): string {
  return `Cannot ${action} "${path}" as it must be unchanged since it was read: ` +
    "it has changed. Read it again, then try again";
}

/** Why an existing file cannot be changed, where the session does not know its content. */
export function unknownFile(
  action: "edit" | "write",
  shown: string,
  { path, info }: { readonly path: string; readonly info: Deno.FileInfo },
  observations: FileObservations,
): string | undefined {
  switch (observations.compare(path, fileVersion(info))) {
    case "unseen":
      return unseenFile(action, shown);
    case "stale":
      return staleFile(action, shown);
    case "fresh":
      return undefined;
  }
}

const MAX_SIBLINGS = 2000;

/** The error of a file that does not exist, with the names that come near. */
export async function missingFile(action: string, shown: string, path: string): Promise<string> {
  const message = `Cannot ${action} "${shown}" as it does not exist`;
  const wanted = fold(basename(path));
  const near: string[] = [];
  try {
    let seen = 0;
    for await (const { name } of Deno.readDir(dirname(path))) {
      if (++seen > MAX_SIBLINGS || near.length === 5) break;
      const other = fold(name);
      if (other.includes(wanted) || (other.length > 2 && wanted.includes(other))) near.push(name);
    }
  } catch {
    // Without the folder there is nothing to suggest, and the message is complete as it is.
  }
  if (near.length === 0) return message;
  return `${message}. Its folder has ${near.sort().map((name) => `"${name}"`).join(", ")}`;
}

/** Ignores case, Unicode composition, kinds of space and extension. */
function fold(name: string): string {
  return name.normalize("NFKC").toLowerCase().replace(/(?<=.)\.[^.]*$/, "").replaceAll(/\s/g, " ");
}
