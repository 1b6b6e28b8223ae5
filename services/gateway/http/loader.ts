/** Loads items by their ids. */
export type Load<Item> = (ids: readonly string[]) => Promise<Item[]>;

/**
 * Creates a loader for one request. It requests each id only once, even if an earlier call for the id is still in
 * progress. Unknown ids are omitted from the result.
 */
export function loaderOf<Item extends { id: string }>(
  loadMany: (ids: string[]) => Promise<readonly Item[]>,
): Load<Item> {
  const requested = new Map<string, Promise<Item | undefined>>();
  return async (ids) => {
    const missing = ids.filter((id) => !requested.has(id));
    if (missing.length > 0) {
      const loading = loadMany(missing).then((items) => new Map(items.map((one) => [one.id, one])));
      for (const id of missing)
        requested.set(
          id,
          loading.then((items) => items.get(id)),
        );
    }
    const items = await Promise.all(ids.map((id) => requested.get(id)));
    return items.filter((item) => item !== undefined);
  };
}
