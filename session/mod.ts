/**
 * Sessions.
 *
 * @module
 */
export * from "./agent_factory.ts";
export * from "./agent_types.ts";
export * from "./approval.ts";
export * from "./events.ts";
export * from "./store.ts";
export * from "./session_config.ts";
