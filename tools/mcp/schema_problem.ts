/**
 * Whether model providers will take a server's JSON Schema: they refuse the whole request over one
 * tool that is malformed.
 */
const TYPES: readonly unknown[] = [
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
];

/** The longest schema, in UTF-16 code units of JSON: all of them go along with every request. */
const LONGEST = 32_000;

/** How deep schemas may stand in each other. */
const DEEPEST = 32;

/** What is wrong with the schema of a tool's input, or undefined. */
export function schemaProblem(schema: unknown): string | undefined {
  if (!isRecord(schema) || schema["type"] !== "object") {
    return 'its input schema is not one of type "object"';
  }
  if (!isSchema(schema, DEEPEST)) return "its input schema is not valid JSON Schema";
  return lengthOf(schema) <= LONGEST
    ? undefined
    : `its input schema is longer than ${LONGEST} characters`;
}

function isSchema(schema: unknown, depth: number): boolean {
  if (typeof schema === "boolean") return true;
  if (!isRecord(schema) || depth === 0) return false;
  const { type, required, items } = schema;
  const inner = (value: unknown) => isSchema(value, depth - 1);
  const all = (value: unknown) => Array.isArray(value) && value.every(inner);
  return (type === undefined || (Array.isArray(type) ? type : [type]).every(isType)) &&
    (required === undefined || (Array.isArray(required) && required.every(isString))) &&
    (items === undefined || all(items) || inner(items)) &&
    ["properties", "patternProperties", "$defs", "definitions"].every((key) =>
      schema[key] === undefined ||
      (isRecord(schema[key]) && Object.values(schema[key]).every(inner))
    ) &&
    ["anyOf", "oneOf", "allOf"].every((key) => schema[key] === undefined || all(schema[key])) &&
    ["additionalProperties", "not"].every((key) => schema[key] === undefined || inner(schema[key]));
}

function isType(value: unknown): boolean {
  return TYPES.includes(value);
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function lengthOf(value: unknown): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    // Nested deeper than the stack: too long in any case.
    return Infinity;
  }
}
