/** The newline-delimited JSON-RPC stream over a pair of byte streams. */
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { wellFormedJson } from "../tools/json.ts";
import { limitLines, MAX_MESSAGE_BYTES } from "./_limit_lines.ts";

/**
 * Makes the ACP stream. A line longer than 32 MiB is answered with an error (-32600, under the
 * request's id where it can be told) and skipped; malformed JSON with -32700.
 */
export function stdioStream(
  input: ReadableStream<Uint8Array>,
  output: WritableStream<Uint8Array>,
): Stream {
  const writer = output.getWriter();
  const frames = new WritableStream<Uint8Array>({
    write: (frame) => writer.write(wellFormedFrame(frame)),
  });
  const lines = limitLines(MAX_MESSAGE_BYTES, (id) => {
    const message = `Invalid request: a message must be at most ${MAX_MESSAGE_BYTES} bytes`;
    const error = { jsonrpc: "2.0", id, error: { code: -32600, message } };
    writer.write(new TextEncoder().encode(`${JSON.stringify(error)}\n`)).catch(() => {
      // The client is gone; reading its input finds that out.
    });
  });
  return ndJsonStream(frames, input.pipeThrough(lines), { maxMessageBytes: MAX_MESSAGE_BYTES * 2 });
}

/** A frame as it is, unless half of a surrogate pair is in it. Whole pairs are never escaped. */
function wellFormedFrame(frame: Uint8Array): Uint8Array {
  for (let at = 0; (at = frame.indexOf(BACKSLASH, at)) !== -1; at += 2) {
    if (frame[at + 1] === LETTER_U && frame[at + 2] === LETTER_D) {
      return new TextEncoder().encode(wellFormedJson(new TextDecoder().decode(frame)));
    }
  }
  return frame;
}

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const LETTER_D = 0x64;
