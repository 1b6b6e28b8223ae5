import { setImmediate as endOfTurn } from "node:timers/promises";
import { withoutDeadline } from "@statehouse/runtime";

/** The maximum number of items in a batch. */
const MAX_BATCH = 500;

interface Waiting<Item> {
  item: Item;
  sent: PromiseWithResolvers<void>;
}

/**
 * Combines items into batches. A batch contains the items of one turn of the event loop, or the items that arrived
 * while the previous batch was being sent. A single item is therefore sent without delay, and under load one statement
 * and one commit write many items. The returned function resolves when the batch that contains its item has been sent,
 * and throws if sending failed.
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
      // A batch is sent without the deadline of the current request, because it can contain items of later requests
      // with later deadlines.
      void withoutDeadline(sendAll);
    }
    return sent.promise;
  };
}
