import { assertEquals } from "@std/assert";
import { docProblems } from "./doc_rules.ts";

const REPORT = `error[private-type-ref]: public type 'f' references private type 'Stream'
  --> /a/x.ts:3:1
error[private-type-ref]: public type 'f' references private type 'Own'
  --> /a/x.ts:4:1
error[missing-jsdoc]: exported symbol is missing JSDoc documentation
  --> /a/x.ts:5:1

error: Found 3 documentation lint errors.`;

const SOURCE = `import {\n  agent,\n  type Stream,\n} from "@agentclientprotocol/sdk";
import type { Own } from "./_own.ts";`;

Deno.test("docProblems() forgives types of packages and nothing else", async () => {
  assertEquals(await docProblems(REPORT, () => Promise.resolve(SOURCE)), [
    "/a/x.ts:4: error[private-type-ref]: public type 'f' references private type 'Own'",
    "/a/x.ts:5: error[missing-jsdoc]: exported symbol is missing JSDoc documentation",
  ]);
});
