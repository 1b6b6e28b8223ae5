/** A value or, if the value can change, a function that returns the current one. */
export type Changing<Value> = Value | (() => Value);

const isFunction = <Value>(value: Changing<Value>): value is () => Value =>
  typeof value === "function";

/** Returns a function that returns the current value. */
export const currentOf = <Value>(value: Changing<Value>): (() => Value) =>
  isFunction(value) ? value : () => value;

/**
 * Returns a function that returns what `derive` computes from the current value. `derive` is called immediately, and
 * again only after the value has changed. Throws what `derive` throws.
 */
export function derivedFrom<Value, Derived>(
  value: Changing<Value>,
  derive: (value: Value) => Derived,
): () => Derived {
  const current = currentOf(value);
  let used = current();
  let derived = derive(used);
  return () => {
    const now = current();
    if (now !== used) {
      derived = derive(now);
      used = now;
    }
    return derived;
  };
}
