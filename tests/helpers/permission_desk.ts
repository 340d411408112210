/** The user at the client: answers permission requests and keeps what was asked. */
import type { Json, JsonObject } from "../../tools/json.ts";
import type { AcpClient } from "./acp_client.ts";
import { isJsonObject, member } from "./frames.ts";

/** A permission request as it arrived. */
export interface AskedPermission {
  readonly callId: string;
  readonly sessionId: string;
  /** Option names by id. */
  readonly options: Readonly<Record<string, string>>;
  /** The status of the call's card when the request arrived. */
  readonly status: string;
  /** What the card said then, as text. */
  readonly card: string;
}

/** Chooses an option by its id, or answers with a whole response; may take its time, or throw. */
export type Decide = (asked: AskedPermission) => string | JsonObject | Promise<string | JsonObject>;

/** Answers every permission request of a client from now on. */
export class PermissionDesk {
  readonly asked: AskedPermission[] = [];
  decide: Decide;

  constructor(client: AcpClient, decide: Decide | string) {
    this.decide = typeof decide === "string" ? () => decide : decide;
    client.handle("session/request_permission", async (params) => {
      const asked = describe(client, params);
      this.asked.push(asked);
      const decision = await this.decide(asked);
      return typeof decision === "string" ? selected(decision) : decision;
    });
  }

  /** The calls that were asked about, in order. */
  get calls(): string[] {
    return this.asked.map(({ callId }) => callId);
  }
}

/** A response that selects an option. */
export function selected(optionId: string): JsonObject {
  return { outcome: { outcome: "selected", optionId } };
}

/** The response of a client whose user turned away. */
export const DISMISSED: JsonObject = { outcome: { outcome: "cancelled" } };

/** The updates of one call so far. */
export function cardOf(client: AcpClient, callId: string): JsonObject[] {
  return client.updates.map(({ update }) => update)
    .filter((update) => update["toolCallId"] === callId);
}

/** The statuses a card went through. */
export function statusesOf(client: AcpClient, callId: string): string[] {
  return cardOf(client, callId).map((update) => update["status"])
    .filter((status) => status !== undefined).map(String);
}

/** The results a model request carries, by call id. */
export function toolResults(body: JsonObject): Record<string, string> {
  const messages = Array.isArray(body["messages"]) ? body["messages"] as readonly Json[] : [];
  return Object.fromEntries(
    messages.filter(isJsonObject).filter(({ role }) => role === "tool")
      .map((message) => [String(message["tool_call_id"]), String(message["content"])]),
  );
}

function describe(client: AcpClient, params: JsonObject): AskedPermission {
  const callId = String(member(params, "toolCall")["toolCallId"]);
  const options = (params["options"] as readonly JsonObject[])
    .map((option) => [String(option["optionId"]), String(option["name"])]);
  return {
    callId,
    sessionId: String(params["sessionId"]),
    options: Object.fromEntries(options),
    status: statusesOf(client, callId).at(-1) ?? "no card",
    card: JSON.stringify(cardOf(client, callId)),
  };
}
