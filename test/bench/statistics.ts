/** Returns the percentile `p` of sorted `values`, with `p` from 0 to 1. */
export const quantile = (values: readonly number[] | Float64Array, p: number): number =>
  values[Math.min(values.length - 1, Math.floor(values.length * p))] ?? Number.NaN;

/** Returns the median of values in any order. */
export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** Returns all latencies of several rounds in one sorted array. */
export function sorted(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.sort();
}
