export interface Slice {
  limit: number;
  offset: number;
}

/** The total number of rows; counted only if the page itself does not determine it. */
export async function totalOf(
  found: number,
  { limit, offset }: Slice,
  count: () => Promise<number>,
): Promise<number> {
  const reachesTheEnd = found < limit && (found > 0 || offset === 0);
  return reachesTheEnd ? offset + found : count();
}
