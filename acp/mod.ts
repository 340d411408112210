/**
 * The ACP bridge.
 *
 * @module
 */
export { connectBridge } from "./bridge.ts";
export type { BridgeConnection, BridgeOptions, BridgeServices, DirectoryLookup } from "./bridge.ts";
export { stdioStream } from "./stdio_stream.ts";
