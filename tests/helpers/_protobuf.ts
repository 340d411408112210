/** The wire format of protobuf, as far as KV Connect uses it: varints and length-delimited fields. */

/** The fields of one message, by number. A field that repeats has several values. */
export type Fields = ReadonlyMap<number, readonly (bigint | Uint8Array<ArrayBuffer>)[]>;

/** Reads a message. Throws a RangeError where it is cut short or uses another wire type. */
export function readFields(bytes: Uint8Array<ArrayBuffer>): Fields {
  const fields = new Map<number, (bigint | Uint8Array<ArrayBuffer>)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new RangeError("Cannot read a varint");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    let value: bigint | Uint8Array<ArrayBuffer>;
    switch (tag & 7) {
      case 0:
        value = varint();
        break;
      case 2: {
        const length = Number(varint());
        if (at + length > bytes.length) {
          throw new RangeError("Cannot read a field: it is cut short");
        }
        value = bytes.slice(at, at += length);
        break;
      }
      default:
        throw new RangeError(`Cannot read a field of wire type ${tag & 7}`);
    }
    const values = fields.get(tag >> 3) ?? [];
    values.push(value);
    fields.set(tag >> 3, values);
  }
  return fields;
}

/** All values of a field that are bytes. */
export function allBytes(fields: Fields, number: number): Uint8Array<ArrayBuffer>[] {
  return (fields.get(number) ?? []).filter((value) => typeof value !== "bigint");
}

/** The bytes of a field, or none. */
export function oneBytes(fields: Fields, number: number): Uint8Array<ArrayBuffer> {
  return allBytes(fields, number).at(-1) ?? new Uint8Array();
}

/** The number of a field, or 0. */
export function oneNumber(fields: Fields, number: number): number {
  const value = fields.get(number)?.at(-1) ?? 0n;
  return typeof value === "bigint" ? Number(value) : 0;
}

/** A field to write: a number, a flag or bytes. */
export type Field = readonly [number: number, value: number | boolean | Uint8Array];

/** Writes a message. */
export function message(...fields: readonly Field[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (value instanceof Uint8Array) {
      parts.push(varintBytes(number << 3 | 2), varintBytes(value.length), value);
    } else {
      parts.push(varintBytes(number << 3), varintBytes(Number(value)));
    }
  }
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function varintBytes(value: number): Uint8Array {
  const bytes: number[] = [];
  for (; value > 0x7f; value = Math.floor(value / 0x80)) bytes.push(value % 0x80 | 0x80);
  bytes.push(value);
  return Uint8Array.from(bytes);
}
