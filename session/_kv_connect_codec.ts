/**
 * What goes over the wire to a KV Connect server: keys as bytes that order as Deno KV orders them,
 * and the messages of the data path (denoland/denokv, `proto/schema/datapath.proto`).
 */
import type { KvKey } from "./kv.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A range of encoded keys: from `start`, up to but not including `end`. */
export interface ReadRange {
  readonly start: Bytes;
  readonly end: Bytes;
  readonly limit: number;
  readonly reverse: boolean;
}

/** How the bytes of a value are to be read. */
export type ValueEncoding = "v8" | "le64" | "bytes";

/** An entry as it is stored. */
export interface StoredEntry {
  readonly key: Bytes;
  readonly value: Bytes;
  readonly encoding: ValueEncoding;
  readonly versionstamp: Bytes;
}

/** A condition of a write; no versionstamp: there must be no value. */
export interface WireCheck {
  readonly key: Bytes;
  readonly versionstamp: Bytes | undefined;
}

/** A change of one key; no value: it is removed. */
export interface WireMutation {
  readonly key: Bytes;
  readonly value?: { readonly data: Bytes; readonly encoding: ValueEncoding };
}

/** The answer to a read. */
export type ReadOutput =
  | { readonly type: "read"; readonly ranges: readonly (readonly StoredEntry[])[] }
  /** This endpoint serves no strongly consistent reads now. */
  | { readonly type: "disabled" };

/** The answer to a write. */
export type WriteOutput =
  | { readonly type: "written"; readonly versionstamp: Bytes }
  | { readonly type: "check_failed" }
  /** This endpoint serves no writes now. */
  | { readonly type: "disabled" }
  | { readonly type: "refused" };

const ENCODINGS: readonly (ValueEncoding | undefined)[] = [undefined, "v8", "le64", "bytes"];
const M_SET = 1;
const M_DELETE = 2;

const BYTES_PART = 0x01;
const STRING_PART = 0x02;
const NUMBER_PART = 0x21;

/** Encodes a key: FoundationDB's tuple layer, as far as {@linkcode KvKey} uses it. */
export function encodeKey(key: KvKey): Bytes {
  const bytes: number[] = [];
  for (const part of key) {
    if (typeof part === "number") {
      const ordered = new Uint8Array(8);
      new DataView(ordered.buffer).setFloat64(0, part);
      const negative = ordered[0]! >= 0x80;
      for (let index = 0; index < 8; index++) ordered[index]! ^= negative ? 0xff : 0;
      if (!negative) ordered[0]! ^= 0x80;
      bytes.push(NUMBER_PART, ...ordered);
      continue;
    }
    const isText = typeof part === "string";
    bytes.push(isText ? STRING_PART : BYTES_PART);
    for (const byte of isText ? new TextEncoder().encode(part) : part) {
      bytes.push(byte);
      // A zero ends the part; within it, it is followed by 0xff.
      if (byte === 0) bytes.push(0xff);
    }
    bytes.push(0);
  }
  return Uint8Array.from(bytes);
}

/** Decodes a key. Throws a RangeError where a part is of a type that the store does not use. */
export function decodeKey(bytes: Bytes): (string | number | Bytes)[] {
  const key: (string | number | Bytes)[] = [];
  let at = 0;
  while (at < bytes.length) {
    const type = bytes[at++];
    if (type === NUMBER_PART) {
      const ordered = bytes.slice(at, at += 8);
      if (ordered.length < 8) throw new RangeError("Cannot read a key: a number is cut short");
      const negative = ordered[0]! < 0x80;
      for (let index = 0; index < 8; index++) ordered[index]! ^= negative ? 0xff : 0;
      if (!negative) ordered[0]! ^= 0x80;
      key.push(new DataView(ordered.buffer).getFloat64(0));
      continue;
    }
    if (type !== STRING_PART && type !== BYTES_PART) {
      throw new RangeError(`Cannot read a key: it has a part of type ${type}`);
    }
    const part: number[] = [];
    for (;; at++) {
      const byte = bytes[at];
      if (byte === undefined) throw new RangeError("Cannot read a key: it is cut short");
      if (byte === 0 && bytes[at + 1] !== 0xff) break;
      part.push(byte);
      if (byte === 0) at++;
    }
    at++;
    const whole = Uint8Array.from(part);
    key.push(type === STRING_PART ? new TextDecoder().decode(whole) : whole);
  }
  return key;
}

/** The key, and then one byte: the bound just after it, or around what it is a prefix of. */
export function boundAfter(key: Bytes, byte: 0x00 | 0xff): Bytes {
  return concat([key, Uint8Array.of(byte)]);
}

/** `com.deno.kv.datapath.SnapshotRead` */
export function encodeSnapshotRead(ranges: readonly ReadRange[]): Bytes {
  return message(...ranges.map(({ start, end, limit, reverse }): Field => [
    1,
    message([1, start], [2, end], [3, limit], [4, Number(reverse)]),
  ]));
}

/** `com.deno.kv.datapath.SnapshotReadOutput` */
export function decodeSnapshotRead(bytes: Bytes): ReadOutput {
  const fields = readFields(bytes);
  const [disabled, consistent, status] = [flag(fields, 2), flag(fields, 4), number(fields, 8)];
  // Servers of protocol version 2 leave the status out.
  if (disabled || !consistent || status > 1) return { type: "disabled" };
  return {
    type: "read",
    ranges: all(fields, 1).map((range) => all(readFields(range), 1).map(decodeEntry)),
  };
}

/** `com.deno.kv.datapath.AtomicWrite` */
export function encodeAtomicWrite(
  checks: readonly WireCheck[],
  mutations: readonly WireMutation[],
): Bytes {
  return message(
    ...checks.map(({ key, versionstamp }): Field => [
      1,
      message([1, key], ...(versionstamp ? [[2, versionstamp] as const] : [])),
    ]),
    ...mutations.map(({ key, value }): Field => [
      2,
      value
        ? message(
          [1, key],
          [2, message([1, value.data], [2, ENCODINGS.indexOf(value.encoding)])],
          [3, M_SET],
        )
        : message([1, key], [3, M_DELETE]),
    ]),
  );
}

/** `com.deno.kv.datapath.AtomicWriteOutput` */
export function decodeAtomicWrite(bytes: Bytes): WriteOutput {
  const fields = readFields(bytes);
  switch (number(fields, 1)) {
    case 1:
      return { type: "written", versionstamp: one(fields, 2) };
    case 2:
      return { type: "check_failed" };
    case 5:
      return { type: "disabled" };
    default:
      return { type: "refused" };
  }
}

function decodeEntry(bytes: Bytes): StoredEntry {
  const fields = readFields(bytes);
  const encoding = ENCODINGS[number(fields, 3)];
  if (!encoding) throw new RangeError("Cannot read an entry: its encoding is unknown");
  return { key: one(fields, 1), value: one(fields, 2), encoding, versionstamp: one(fields, 4) };
}

type Fields = ReadonlyMap<number, readonly (number | Bytes)[]>;
type Field = readonly [field: number, value: number | Bytes];

/** Reads the fields of a protobuf message: varints and length-delimited ones. */
function readFields(bytes: Bytes): Fields {
  const fields = new Map<number, (number | Bytes)[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1;; scale *= 0x80) {
      const byte = bytes[at++];
      if (byte === undefined) throw new RangeError("Cannot read a message: it is cut short");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const wireType = tag & 7;
    if (wireType !== 0 && wireType !== 2) {
      throw new RangeError(`Cannot read a message: it has a field of wire type ${wireType}`);
    }
    let value: number | Bytes = varint();
    if (wireType === 2) {
      const end = at + value;
      if (end > bytes.length) throw new RangeError("Cannot read a message: it is cut short");
      value = bytes.subarray(at, end);
      at = end;
    }
    const field = Math.floor(tag / 8);
    const values = fields.get(field);
    if (values) values.push(value);
    else fields.set(field, [value]);
  }
  return fields;
}

function all(fields: Fields, field: number): Bytes[] {
  return (fields.get(field) ?? []).filter((value) => typeof value !== "number");
}

function one(fields: Fields, field: number): Bytes {
  return all(fields, field).at(-1) ?? new Uint8Array();
}

function number(fields: Fields, field: number): number {
  const value = fields.get(field)?.at(-1);
  return typeof value === "number" ? value : 0;
}

function flag(fields: Fields, field: number): boolean {
  return number(fields, field) !== 0;
}

function message(...fields: readonly Field[]): Bytes {
  const parts: Uint8Array[] = [];
  for (const [field, value] of fields) {
    if (typeof value === "number") parts.push(varintOf(field * 8), varintOf(value));
    else parts.push(varintOf(field * 8 + 2), varintOf(value.length), value);
  }
  return concat(parts);
}

function varintOf(value: number): Uint8Array {
  const bytes: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push(value % 0x80 + 0x80);
  return Uint8Array.from([...bytes, value]);
}

function concat(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
