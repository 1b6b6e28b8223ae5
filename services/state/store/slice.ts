export interface Slice {
  limit: number;
  offset: number;
}

/** How many there are in all; counted only where the slice itself does not tell. */
export async function totalOf(
  found: number,
  { limit, offset }: Slice,
  count: () => Promise<number>,
): Promise<number> {
  const reachesTheEnd = found < limit && (found > 0 || offset === 0);
  return reachesTheEnd ? offset + found : count();
}
