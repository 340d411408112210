/** Keeps the last `capacity` bytes of a stream; memory is taken when the first byte arrives. */
export class ByteRing {
  readonly #capacity: number;
  #buffer: Uint8Array | undefined;
  #end = 0;
  #length = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many bytes are kept. */
  get length(): number {
    return this.#length;
  }

  /** Adds bytes, dropping the oldest where there is no room. */
  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const buffer = this.#buffer ??= new Uint8Array(this.#capacity);
    const last = bytes.subarray(Math.max(0, bytes.length - this.#capacity));
    const first = Math.min(last.length, this.#capacity - this.#end);
    buffer.set(last.subarray(0, first), this.#end);
    buffer.set(last.subarray(first), 0);
    this.#end = (this.#end + last.length) % this.#capacity;
    this.#length = Math.min(this.#capacity, this.#length + last.length);
  }

  /** A copy of the last `count` bytes, or of all there are. */
  last(count: number): Uint8Array {
    const length = Math.min(count, this.#length);
    const copy = new Uint8Array(length);
    const buffer = this.#buffer;
    if (!buffer) return copy;
    const start = (this.#end - length + this.#capacity) % this.#capacity;
    const first = Math.min(length, this.#capacity - start);
    copy.set(buffer.subarray(start, start + first), 0);
    copy.set(buffer.subarray(0, length - first), first);
    return copy;
  }
}
