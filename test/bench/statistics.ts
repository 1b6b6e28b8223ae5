/** The percentile `p` of the sorted `values`. */
export const quantile = (values: readonly number[] | Float64Array, p: number): number =>
  values[Math.min(values.length - 1, Math.floor(values.length * p))] ?? Number.NaN;

/** Unsorted values. */
export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** All latencies of several rounds, sorted. */
export function sorted(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.sort();
}
