import type { StoreCommand } from "./store_command.ts";

/**
 * `repair ID [--write]`: says what is damaged in a session; with `--write`, mends it. Exits 0 when
 * nothing is wrong, or everything was mended; otherwise 1.
 */
export const repairCommand: StoreCommand = async (args, store, { print, complain }) => {
  const write = args.includes("--write");
  const [id, ...more] = args.filter((arg) => arg !== "--write");
  const unknown = more[0] ?? (id?.startsWith("-") ? id : undefined);
  if (id === undefined || unknown !== undefined) {
    complain(
      unknown === undefined
        ? "repair needs the id of a session"
        : `repair takes the id of a session and --write; got "${unknown}"`,
    );
    return 2;
  }
  const report = await (write ? store.mend(id) : store.inspect(id));
  if (!report) {
    complain(`Cannot find a session with the id "${id}"`);
    return 1;
  }
  const { findings, readable, newer, mended, holder } = report;
  if (holder && findings.length > 0) {
    print("The session is open: what is being written just now may look damaged\n");
  }
  for (const { key, problem, remedy } of findings) {
    const what = remedy ?? "this cannot be mended";
    print(`${key}: ${problem}${newer ? "" : mended ? `; ${what}` : `; to mend: ${what}`}\n`);
  }
  const events = `${readable} ${plural(readable, "event")} can be read`;
  if (findings.length === 0) {
    print(`Nothing is damaged: ${events}\n`);
    return 0;
  }
  const found = `${findings.length} ${plural(findings.length, "problem")} found`;
  if (newer) {
    complain(`Cannot mend the session ${id} as a newer dsh-acp wrote to it: update dsh-acp`);
    return 1;
  }
  if (!mended) {
    print(`${found}; ${events}. Nothing was written: "dsh-acp repair ${id} --write" mends it\n`);
    return 1;
  }
  const left = findings.filter(({ remedy }) => remedy === undefined).length;
  print(
    `${found}, ${findings.length - left} mended; ${events}. ` +
      "What was replaced is kept in the store until the session is deleted\n",
  );
  return left === 0 ? 0 : 1;
};

function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}
