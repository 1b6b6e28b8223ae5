import { setImmediate as endOfTurn } from "node:timers/promises";
import { withoutDeadline } from "@statehouse/runtime";

/** A larger batch is divided. */
const MAX_BATCH = 500;

interface Waiting<Item> {
  item: Item;
  sent: PromiseWithResolvers<void>;
}

/**
 * Combines items into batches: those of one turn of the event loop, and those that arrive while the previous batch is
 * sent. So a single item waits for nothing, and under load one statement and one commit serve many items. The returned
 * function resolves when the item's batch was sent, and throws if that failed.
 */
export function gather<Item>(send: (items: readonly Item[]) => Promise<void>) {
  let waiting: Waiting<Item>[] = [];
  let sending = false;
  const sendAll = async (): Promise<void> => {
    await endOfTurn();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      try {
        await send(batch.map(({ item }) => item));
        for (const { sent } of batch) sent.resolve();
      } catch (error) {
        for (const { sent } of batch) sent.reject(error);
      }
    }
    sending = false;
  };
  return (item: Item): Promise<void> => {
    const sent = Promise.withResolvers<void>();
    waiting.push({ item, sent });
    if (!sending) {
      sending = true;
      // The batch also serves later requests, whose deadlines are later.
      void withoutDeadline(sendAll);
    }
    return sent.promise;
  };
}
