/**
 * The ACP bridge: serves a client over the interfaces of agents, store and approval. It knows no
 * turn loop, model, shell or database; give it yours.
 *
 * @example A connection in memory
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { connectBridge, stdioStream } from "@dsh/acp/acp";
 *
 * const toAgent = new TransformStream<Uint8Array, Uint8Array>();
 * const toClient = new TransformStream<Uint8Array, Uint8Array>();
 * await using bridge = connectBridge(stdioStream(toAgent.readable, toClient.writable), {
 *   agentInfo: { name: "example", version: "1.0.0" },
 *   authMethods: [],
 *   services: () => Promise.reject(new Error("no session is opened here")),
 *   directories: {
 *     kind: () => Promise.resolve("directory"),
 *     realPath: (path) => Promise.resolve(path),
 *   },
 *   report: () => {},
 * });
 *
 * const request = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } };
 * const client = toAgent.writable.getWriter();
 * await client.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
 * const { value } = await toClient.readable.getReader().read();
 * const response = JSON.parse(new TextDecoder().decode(value));
 * assertEquals(response.result.agentInfo.name, "example");
 *
 * await client.close();
 * await bridge.connection.closed;
 * ```
 *
 * @module
 */
export { connectBridge } from "./bridge.ts";
export type { BridgeConnection, BridgeOptions, BridgeServices, DirectoryLookup } from "./bridge.ts";
export { authRequired, internalError, invalidParams } from "./errors.ts";
export { stdioStream } from "./stdio_stream.ts";
