/** What the tools of MCP servers are called towards the model. */

/** The longest name that model providers accept. */
const LONGEST = 64;

/**
 * The name of a server's tool: `mcp__server__tool`, of the characters model providers accept, at
 * most 64 of them, and not one of `taken`. What had to be changed ends in a hash of the original,
 * so that it stays the same whatever else is connected.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(mcpToolName("docs", "search"), "mcp__docs__search");
 * ```
 */
export function mcpToolName(
  server: string,
  tool: string,
  taken: (name: string) => boolean = () => false,
): string {
  const plain = `mcp__${accepted(server)}__${accepted(tool)}`;
  const original = `mcp__${server}__${tool}`;
  if (plain === original && plain.length <= LONGEST && !taken(plain)) return plain;
  for (let attempt = 0;; attempt++) {
    const mark = `_${hash(JSON.stringify([server, tool, attempt]))}`;
    const name = plain.slice(0, LONGEST - mark.length) + mark;
    if (!taken(name)) return name;
  }
}

function accepted(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/g, "_");
}

/** FNV-1a, 32 bits: tells names apart, protects nothing. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    value = Math.imul(value ^ byte, 0x01000193);
  }
  return (value >>> 0).toString(16).padStart(8, "0");
}
