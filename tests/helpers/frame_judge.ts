/** Says what is wrong with the frames an agent writes: framing, schema, sessions nobody opened. */
import { type Frame, member } from "./frames.ts";
import { errorProblems, wireProblems } from "./wire_schema.ts";

/** Judges frames in the order of the wire. */
export class FrameJudge {
  readonly #methodOf: (id: number) => string | undefined;
  readonly #sessions = new Set<string>();
  #foreign = false;

  /** `methodOf` tells the method of an open request. */
  constructor(methodOf: (id: number) => string | undefined) {
    this.#methodOf = methodOf;
  }

  /** From now on the agent may speak of this session. */
  announce(sessionId: string): void {
    this.#sessions.add(sessionId);
  }

  /** From now on answers to requests this side does not know of are no problem. */
  allowForeignAnswers(): void {
    this.#foreign = true;
  }

  /** One line per problem; none means that the frame is right. */
  problems({ message }: Frame): string[] {
    if (!message) return ["it is no JSON object"];
    if (message["jsonrpc"] !== "2.0") return [`"jsonrpc" is not "2.0"`];
    const { id, method, error, result } = message;
    if (typeof method === "string") {
      const part = id === undefined ? "notification" : "request";
      const found = wireProblems(method, part, message["params"]);
      const session = member(message, "params")["sessionId"];
      if (typeof session === "string" && !this.#sessions.has(session)) {
        found.push(`session "${session}" was not announced before`);
      }
      return found;
    }
    const asked = typeof id === "number" ? this.#methodOf(id) : undefined;
    if (asked === undefined && !this.#foreign) {
      return [`no request has the id ${JSON.stringify(id)}`];
    }
    if (error !== undefined) return errorProblems(error);
    if (!("result" in message)) return [`it has neither "result" nor "error"`];
    if (asked === undefined) return [];
    if (asked === "session/new") this.announce(String(member(message, "result")["sessionId"]));
    // "void" results travel as null.
    return wireProblems(asked, "response", result === null ? {} : result);
  }
}
