/**
 * Reading what older versions of the program wrote. Stored values are never rewritten for it:
 * each is brought up to the current schema when it is read, one version at a time.
 *
 * Version 0 is the shape before the first release: a `tool/result` had no `outcome`, a
 * `turn/start` no `trigger`. A session may hold events of several versions, in any order.
 */
import { SCHEMA_VERSION } from "./events.ts";

type Fields = Readonly<Record<string, unknown>>;

/** From one version to the next. Each is pure and leaves alone what it does not know. */
interface Migration {
  readonly event: (event: Fields) => Fields;
  readonly header: (header: Fields) => Fields;
}

/** By the version they start from: the entry at 0 makes version 1 of version 0. */
const MIGRATIONS: readonly Migration[] = [
  { event: withDefaults, header: (header) => header },
];

/** A value of the current schema, or the newer version it is of. */
export type Migrated =
  | { readonly type: "current"; readonly value: unknown }
  | { readonly type: "newer"; readonly version: number };

/** Brings a stored event up to the current schema. What is no event at all passes unchanged. */
export function migrateEvent(value: unknown): Migrated {
  return migrate(value, "v", (migration) => migration.event);
}

/** Brings a stored header up to the current schema. What is no header at all passes unchanged. */
export function migrateHeader(value: unknown): Migrated {
  return migrate(value, "version", (migration) => migration.header);
}

/** Says that a value is of a newer schema; completes "Cannot read the event at …". */
export function newerSchema(version: number): string {
  return `a newer dsh-acp wrote it (schema ${version}; this one reads up to ${SCHEMA_VERSION}). ` +
    "Update dsh-acp";
}

function migrate(
  value: unknown,
  versionField: "v" | "version",
  step: (migration: Migration) => (fields: Fields) => Fields,
): Migrated {
  if (typeof value !== "object" || value === null) return { type: "current", value };
  let fields = value as Fields;
  const stored = fields[versionField];
  if (typeof stored !== "number" || !Number.isInteger(stored) || stored < 0) {
    return { type: "current", value };
  }
  if (stored > SCHEMA_VERSION) return { type: "newer", version: stored };
  for (let version = stored; version < SCHEMA_VERSION; version++) {
    const migration = MIGRATIONS[version];
    if (!migration) return { type: "current", value };
    fields = { ...step(migration)(fields), [versionField]: version + 1 };
  }
  return { type: "current", value: fields };
}

/** Version 0 did not say what began a turn, nor whether the body of a call had run. */
function withDefaults(event: Fields): Fields {
  const { data } = event;
  if (typeof data !== "object" || data === null) return event;
  switch (event["type"]) {
    case "turn/start":
      return { ...event, data: { trigger: "prompt", ...data } };
    case "tool/result":
      return { ...event, data: { outcome: "finished", ...data } };
    default:
      return event;
  }
}
