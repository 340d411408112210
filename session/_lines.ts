const NEWLINE = 0x0a;

/**
 * The lines of a stream without their line feeds; the last one may lack it. After a line that is
 * longer than `max` bytes it ends. Ending it early cancels the stream.
 */
export async function* readLines(
  stream: ReadableStream<Uint8Array>,
  max: number,
): AsyncGenerator<Uint8Array | "too long", undefined, undefined> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(NEWLINE, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      pieces.push(piece);
      length += piece.length;
      if (length > max) {
        yield "too long";
        return;
      }
      if (end === -1) break;
      yield join(pieces, length);
      pieces = [];
      length = 0;
      start = end + 1;
    }
  }
  if (length > 0) yield join(pieces, length);
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
