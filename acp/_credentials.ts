/** The keys that `login` stores: a file in the agent's own folder that only its owner can read. */
import { z } from "zod";
import { isProviderId, type ProviderId, PROVIDERS } from "../session/model/known_models.ts";

const entrySchema = z.strictObject({
  /** Absent: a server that wants none. */
  key: z.string().min(1).optional(),
  /** The address the key belongs to. Absent: the provider's own. */
  baseUrl: z.string().min(1).optional(),
  /** A model to offer, in the provider's own words. */
  model: z.string().min(1).optional(),
});

const fileSchema = z.strictObject({
  version: z.literal(1),
  providers: z.partialRecord(z.enum(Object.keys(PROVIDERS) as [ProviderId]), entrySchema),
});

/** What is stored for a provider. */
export type StoredKey = z.infer<typeof entrySchema>;

/** What is stored, by provider. */
export type Credentials = Readonly<Partial<Record<ProviderId, StoredKey>>>;

/** The file as it was found. */
export type ReadCredentials =
  | { readonly type: "found"; readonly credentials: Credentials }
  | { readonly type: "none" }
  /** `message` never holds what is in the file. */
  | { readonly type: "damaged"; readonly message: string };

/** Reads the file. One that may not be read counts as none. */
export function readCredentials(path: string): ReadCredentials {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    const absent = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable;
    return absent ? { type: "none" } : damaged(path, "it cannot be read");
  }
  try {
    const parsed = fileSchema.safeParse(JSON.parse(text));
    if (parsed.success) return { type: "found", credentials: parsed.data.providers as Credentials };
    const [issue] = parsed.error.issues;
    return damaged(path, `${issue?.path.join(".") || "the whole"} is not what login writes`);
  } catch {
    // The parser's words would quote the file.
    return damaged(path, "it is not JSON");
  }
}

function damaged(path: string, reason: string): ReadCredentials {
  const message = `The stored keys in "${path}" are not used, as ${reason}: run login again, or ` +
    "logout to remove them";
  return { type: "damaged", message };
}

/**
 * Writes the file, mode 0600: a reader sees the old content or the new.
 *
 * @param path In a folder that exists.
 */
export async function writeCredentials(path: string, credentials: Credentials): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  const text = `${JSON.stringify({ version: 1, providers: credentials }, null, 2)}\n`;
  try {
    using file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
    const data = new TextEncoder().encode(text);
    for (let done = 0; done < data.length;) done += await file.write(data.subarray(done));
    await file.sync();
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {
      // It was never made, or it has its name already.
    });
    throw error;
  }
}

/** Removes the file. False: there was none. */
export async function removeCredentials(path: string): Promise<boolean> {
  try {
    await Deno.remove(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * The environment as the catalogue of models reads it, with what is stored where nothing is set. A
 * stored key never goes to another address than the one it was stored for. Commands are not given
 * this.
 */
export function withCredentials(
  env: Readonly<Record<string, string>>,
  credentials: Credentials,
): Record<string, string> {
  const merged = { ...env };
  const models = env["DSH_MODELS"] ? [env["DSH_MODELS"]] : [];
  for (const [id, stored] of Object.entries(credentials)) {
    if (!isProviderId(id)) continue;
    const { keyVariable, baseUrlVariable } = PROVIDERS[id];
    const given = env[baseUrlVariable]?.trim();
    if (env[keyVariable]?.trim()) continue;
    if (given && stored.baseUrl !== undefined && given !== stored.baseUrl) continue;
    if (stored.key !== undefined) merged[keyVariable] = stored.key;
    if (stored.baseUrl !== undefined) merged[baseUrlVariable] = stored.baseUrl;
    if (stored.model !== undefined) models.push(`${id}/${stored.model}`);
  }
  return models.length > 0 ? { ...merged, DSH_MODELS: models.join(",") } : merged;
}
