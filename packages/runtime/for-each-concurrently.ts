// Not p-map: after an error it does not wait for the work in progress.
/**
 * Runs `work` for each item, at most `count` at the same time. All items are taken from one queue, so a slow item does
 * not delay the others. After the first error no further work starts; the error is thrown when all work in progress has
 * ended.
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
