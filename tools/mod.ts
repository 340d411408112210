export type { Json, JsonObject } from "./json.ts";
export type * from "./presentation.ts";
export * from "./sandbox_policy.ts";
export * from "./tool.ts";
export * from "./tool_registry.ts";
