/**
 * Runs `work` for each item, `count` of them concurrently, from one queue, so that a slow item delays no other.
 * Throws the first error; no further work starts after it, and all work in progress has ended.
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
