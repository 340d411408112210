type Bag = Record<PropertyKey, unknown>;

/** Tells whether two values are deeply equal: same constructors, same own enumerable keys. */
export function equal(a: unknown, b: unknown): boolean {
  return compare(a, b, new Map());
}

function compare(a: unknown, b: unknown, seen: Map<unknown, unknown>): boolean {
  if (typeof a === "number" && typeof b === "number") {
    return a === b || (Number.isNaN(a) && Number.isNaN(b));
  }
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (
    (a instanceof RegExp && b instanceof RegExp) || (a instanceof URL && b instanceof URL)
  ) return String(a) === String(b);
  if (!sameConstructor(a, b)) return false;
  if (a instanceof WeakMap || a instanceof WeakSet) {
    throw new TypeError(`cannot compare ${a.constructor.name} instances`);
  }
  if (a instanceof WeakRef && b instanceof WeakRef) return compare(a.deref(), b.deref(), seen);
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  if (a instanceof Set && b instanceof Set) return sameMembers([...a], [...b], seen);
  if (a instanceof Map && b instanceof Map) return sameMembers([...a], [...b], seen);
  return sameKeys(a as Bag, b as Bag, seen);
}

function sameConstructor(a: object, b: object): boolean {
  return (a.constructor ?? Object) === (b.constructor ?? Object);
}

function sameKeys(a: Bag, b: Bag, seen: Map<unknown, unknown>): boolean {
  const keys = ownKeys(a);
  return keys.length === ownKeys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && compare(a[key], b[key], seen));
}

function ownKeys(value: object): PropertyKey[] {
  return Reflect.ownKeys(value).filter((key) =>
    Object.prototype.propertyIsEnumerable.call(value, key)
  );
}

/** Whether each member of `a` has one of its own in `b`, in any order. */
function sameMembers(a: unknown[], b: unknown[], seen: Map<unknown, unknown>): boolean {
  if (a.length !== b.length) return false;
  const rest = [...b];
  return a.every((member) => {
    const at = rest.findIndex((other) => compare(member, other, new Map(seen)));
    if (at < 0) return false;
    rest.splice(at, 1);
    return true;
  });
}
