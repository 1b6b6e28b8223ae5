/** Returns the percentile `p` of sorted `values`, with `p` from 0 to 1. */
export const quantile = (values: readonly number[] | Float64Array, p: number): number =>
  values[Math.min(values.length - 1, Math.floor(values.length * p))] ?? Number.NaN;

/** Returns the median of values in any order. */
export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
