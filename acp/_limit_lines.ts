/** The longest message the agent reads, in bytes. The SDK's own limit ends the connection. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** How much of a line that is too long is kept from each end, to find the id of its request. */
const ENDS = 1024;

/**
 * Passes newline-delimited messages through and drops each that is too long, however long it
 * grows, so that one bad message does not end the connection.
 *
 * @param onDropped Is given the JSON-RPC id of a dropped request where it can be told, else null.
 */
export function limitLines(
  maxBytes: number,
  onDropped: (id: string | number | null) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const newline = 10;
  let held: Uint8Array[] = [];
  let length = 0;
  let head = "";
  let tail = "";

  function add(piece: Uint8Array): void {
    length += piece.length;
    if (length <= maxBytes) return void held.push(piece);
    if (held.length > 0) head = text(held[0]!.subarray(0, ENDS));
    held = [];
    tail = (tail + text(piece.subarray(-ENDS))).slice(-ENDS);
  }

  function end(controller: TransformStreamDefaultController<Uint8Array>): void {
    if (length > maxBytes) onDropped(requestId(head, tail));
    else for (const piece of held) controller.enqueue(piece);
    held = [];
    length = 0;
    head = tail = "";
  }

  return new TransformStream({
    transform(chunk, controller) {
      let start = 0;
      for (let at; (at = chunk.indexOf(newline, start)) !== -1; start = at + 1) {
        add(chunk.subarray(start, at + 1));
        end(controller);
      }
      if (start < chunk.length) add(chunk.subarray(start));
    },
    flush: end,
  });
}

/** The id where clients put it: before the params, or at the very end. */
function requestId(head: string, tail: string): string | number | null {
  const before = head.slice(0, indexOr(head, '"params"'));
  const found = before.match(/"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/) ??
    tail.match(/,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*\}\s*$/);
  return found ? JSON.parse(found[1]!) : null;
}

function indexOr(text: string, part: string): number {
  const index = text.indexOf(part);
  return index === -1 ? text.length : index;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
