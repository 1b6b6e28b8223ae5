/** Loads items by their ids. */
export type Load<Item> = (ids: readonly string[]) => Promise<Item[]>;

/**
 * A loader for one request: an id that was requested before is not requested again, even while its call is under way.
 * Unknown ids are omitted from the result.
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
