/**
 * Does `work` for each item, `count` of them at once, from one queue: what takes long holds up one hand and no more.
 * Throws what the first one throws; then nothing further is begun, and what is under way has ended.
 */
export async function atOnce<Item>(
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
