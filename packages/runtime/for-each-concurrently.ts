/**
 * Does `work` for each item, `count` of them concurrently, from one queue: a slow item delays no other. Throws the
 * first error; then no further work starts, and the work in progress has ended.
 */
export async function forEachConcurrently<Item>(
  count: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let failure: { error: unknown } | undefined;
  const hand = async (): Promise<void> => {
    for (const item of queue) {
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
      if (failure) return;
    }
  };
  await Promise.all(Array.from({ length: count }, hand));
  if (failure) throw failure.error;
}
