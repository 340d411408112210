/** What `deno doc --lint` has to say, less what no change of ours could mend. */

const REF = /^error\[private-type-ref\].*references private type '([^']+)'/;

/**
 * The problems in a report of `deno doc --lint`, one a line.
 *
 * A public type that names a type of a dependency is none: to re-export that type would make the
 * whole of the dependency's documentation a part of this package's.
 *
 * @param report What the command printed, without colours.
 * @param read Reads a file that the report names.
 */
export async function docProblems(
  report: string,
  read: (path: string) => Promise<string>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const block of report.split(/^(?=error\[)/m)) {
    if (!block.startsWith("error[")) continue;
    const [message = ""] = block.split("\n");
    const place = /--> (\S+?):(\d+):\d+/.exec(block);
    const type = REF.exec(message)?.[1];
    if (type && place && isImported(await read(place[1]!), type)) continue;
    problems.push(`${place ? `${place[1]}:${place[2]}: ` : ""}${message}`);
  }
  return problems;
}

/** Whether a source imports a type from a package by its bare name. */
function isImported(source: string, type: string): boolean {
  for (const [, names, from] of source.matchAll(/import (?:type )?\{([^}]*)\} from "([^"]+)"/g)) {
    const listed = names!.split(",").map((name) => name.trim().replace(/^type /, ""));
    if (!from!.startsWith(".") && listed.includes(type)) return true;
  }
  return false;
}
