import { openKv } from "../../session/kv.ts";

/**
 * Writes a session of tests/fixtures/ into a store exactly as it is: the header on the first line,
 * an event on each other one. Returns its id. `edit` may change each line; `cwd` replaces the
 * header's.
 */
export async function storeFixture(
  path: string,
  name: string,
  edit: (line: string) => string = (line) => line,
  cwd?: string,
): Promise<string> {
  const text = await Deno.readTextFile(new URL(`../fixtures/${name}`, import.meta.url));
  const [first = "", ...events] = text.trimEnd().split("\n");
  const header = { ...JSON.parse(first), ...cwd !== undefined && { cwd } };
  const { id, createdAt } = header;
  const kv = await openKv(path);
  try {
    const atomic = kv.atomic()
      .set(["session", id, "header"], header)
      .set(["session", id, "tail"], { next: events.length, listedAt: createdAt })
      .set(["session_by_time", createdAt, id], null);
    for (const [seq, line] of events.entries()) {
      atomic.set(["session", id, "event", seq], new TextEncoder().encode(edit(line)));
    }
    await atomic.commit();
  } finally {
    kv.close();
  }
  return id;
}
