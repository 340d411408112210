/** Judges frames by the protocol's own JSON Schema, more strictly than the SDK's client does. */
import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };
import type { Json, JsonObject } from "../../tools/json.ts";

type Schema = { readonly [key: string]: unknown };

const DEFS = (schema as unknown as { readonly $defs: Readonly<Record<string, Schema>> }).$defs;

/** What a value did not obey. Paths are like `$.update.status`. */
interface Findings {
  readonly problems: string[];
  /** The keys that some schema speaks of. */
  readonly known: Set<string>;
  /** Whether keys that no schema speaks of are allowed. */
  open: boolean;
}

/**
 * Checks what one side sends: `agent` for the results of agent methods, `client` for the requests
 * and notifications an agent sends. Unknown keys are problems, since the protocol reserves them
 * (`_meta` is there for extensions). Returns one line per problem; none means valid. A method
 * that the schema does not list is a problem unless it starts with `_`.
 */
export function wireProblems(
  method: string,
  part: "request" | "response" | "notification",
  value: Json | undefined,
): string[] {
  if (method.startsWith("_")) return [];
  const suffix = part[0]?.toUpperCase() + part.slice(1);
  const name = Object.keys(DEFS).find((key) =>
    DEFS[key]?.["x-method"] === method && key.endsWith(suffix)
  );
  if (name === undefined) return [`no ${part} "${method}" in the protocol`];
  return check({ $ref: `#/$defs/${name}` }, value ?? {}, "$");
}

/** Checks a JSON-RPC error object. */
export function errorProblems(value: Json | undefined): string[] {
  return check({ $ref: "#/$defs/Error" }, value, "$");
}

function check(schema: Schema, value: unknown, path: string): string[] {
  const findings: Findings = { problems: [], known: new Set(), open: false };
  apply(schema, value, path, findings);
  if (findings.problems.length === 0 && isObject(value) && !findings.open) {
    for (const key of Object.keys(value)) {
      if (!findings.known.has(key)) findings.problems.push(`${path}: unknown key "${key}"`);
    }
  }
  return findings.problems;
}

/** Plain validity: a schema that excludes something does not speak of its other keys. */
function matches(schema: Schema, value: unknown, path: string): boolean {
  const findings: Findings = { problems: [], known: new Set(), open: true };
  apply(schema, value, path, findings);
  return findings.problems.length === 0;
}

function apply(schema: Schema, value: unknown, path: string, findings: Findings): void {
  const { problems } = findings;
  if (typeof schema["$ref"] === "string") {
    const target = DEFS[schema["$ref"].replace("#/$defs/", "")];
    if (!target) throw new Error(`Unknown reference ${schema["$ref"]}`);
    apply(target, value, path, findings);
  }
  for (const part of list(schema["allOf"])) apply(part, value, path, findings);
  if (schema["anyOf"]) choose(list(schema["anyOf"]), value, path, findings);
  if (schema["oneOf"]) choose(list(schema["oneOf"]), value, path, findings);
  if (isObject(schema["not"]) && matches(schema["not"], value, path)) {
    problems.push(`${path}: ${show(value)} is excluded by the schema`);
  }
  if ("const" in schema && schema["const"] !== value) {
    problems.push(`${path}: ${show(value)} is not ${show(schema["const"])}`);
  }
  if (Array.isArray(schema["enum"]) && !schema["enum"].includes(value)) {
    problems.push(`${path}: ${show(value)} is none of ${show(schema["enum"])}`);
  }
  if (schema["type"] !== undefined) {
    const types = [schema["type"]].flat();
    if (!types.some((type) => hasType(value, type))) {
      problems.push(`${path}: ${show(value)} is not of type ${types.join(" or ")}`);
      return;
    }
  }
  if (typeof value === "number") applyRange(schema, value, path, problems);
  if (typeof value === "string" && Number(schema["minLength"] ?? 0) > value.length) {
    problems.push(`${path}: ${show(value)} is too short`);
  }
  if (Array.isArray(value) && isObject(schema["items"])) {
    const items = schema["items"];
    value.forEach((item, at) => problems.push(...check(items, item, `${path}[${at}]`)));
  }
  if (isObject(value)) applyKeys(schema, value, path, findings);
}

function applyRange(schema: Schema, value: number, path: string, problems: string[]): void {
  const { minimum, maximum } = schema;
  if (typeof minimum === "number" && value < minimum) {
    problems.push(`${path}: ${value} < ${minimum}`);
  }
  if (typeof maximum === "number" && value > maximum) {
    problems.push(`${path}: ${value} > ${maximum}`);
  }
}

function applyKeys(schema: Schema, value: JsonLike, path: string, findings: Findings): void {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  for (const [key, property] of Object.entries(properties)) {
    findings.known.add(key);
    if (Object.hasOwn(value, key)) {
      findings.problems.push(...check(property as Schema, value[key], `${path}.${key}`));
    }
  }
  for (const key of (schema["required"] ?? []) as string[]) {
    if (!Object.hasOwn(value, key)) findings.problems.push(`${path}: "${key}" is missing`);
  }
  const rest = schema["additionalProperties"] ?? schema["unevaluatedProperties"];
  if (rest === true) findings.open = true;
  if (isObject(rest)) {
    findings.open = true;
    for (const key of Object.keys(value)) {
      if (key in properties) continue;
      findings.problems.push(...check(rest, value[key], `${path}.${key}`));
    }
  }
  // A schema that says nothing about keys, such as that of `rawInput`, allows all of them.
  const silent = ["$ref", "allOf", "anyOf", "oneOf", "properties"].every((key) => !schema[key]);
  if (silent && rest !== false) findings.open = true;
}

/** Applies the branch that fits; if none does, reports the one that comes closest. */
function choose(
  branches: readonly Schema[],
  value: unknown,
  path: string,
  findings: Findings,
): void {
  let closest: { readonly problems: readonly string[]; readonly miss: number } | undefined;
  for (const branch of branches) {
    const trial: Findings = { problems: [], known: new Set(), open: false };
    apply(branch, value, path, trial);
    if (trial.problems.length === 0) {
      for (const key of trial.known) findings.known.add(key);
      findings.open ||= trial.open;
      return;
    }
    // A branch whose tag does not fit (`sessionUpdate`, `type`) was not meant.
    const miss = trial.problems.length + (tagFits(branch, value) ? 0 : 1000);
    if (!closest || miss < closest.miss) closest = { problems: trial.problems, miss };
  }
  findings.problems.push(...closest?.problems ?? []);
}

function tagFits(branch: Schema, value: unknown): boolean {
  if (!isObject(branch["properties"]) || !isObject(value)) return false;
  return Object.entries(branch["properties"]).some(([key, property]) =>
    isObject(property) && "const" in property && property["const"] === value[key]
  );
}

type JsonLike = Record<string, unknown>;

function list(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value as Schema[] : [];
}

function isObject(value: unknown): value is JsonLike {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    default:
      throw new TypeError(`Unknown schema type ${show(type)}`);
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value as JsonObject) ?? "undefined";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
