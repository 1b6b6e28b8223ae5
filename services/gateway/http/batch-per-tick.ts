import { setImmediate as endOfTurn } from "node:timers/promises";

/** Maximum number of keys in a batch. Further keys start a new batch. */
const MAX_BATCH = 100;

interface Batch<Key, Answer> {
  /** The position of each key in the batch. */
  places: Map<Key, number>;
  answers: Promise<readonly (Answer | undefined)[]>;
}

/**
 * Combines the keys that are requested in one turn of the event loop into one call, which contains each key once. A
 * caller never joins a batch that was already sent, so results are never stale.
 */
export function batchPerTick<Key, Answer>(
  ask: (keys: readonly Key[]) => Promise<readonly (Answer | undefined)[]>,
): (key: Key) => Promise<Answer | undefined> {
  let gathering: Batch<Key, Answer> | undefined;
  const begin = (): Batch<Key, Answer> => {
    const places = new Map<Key, number>();
    const send = async () => {
      await endOfTurn();
      if (gathering === batch) gathering = undefined;
      return ask([...places.keys()]);
    };
    const batch = { places, answers: send() };
    return batch;
  };
  return async (key) => {
    if (!gathering || gathering.places.size >= MAX_BATCH) gathering = begin();
    const { places, answers } = gathering;
    const place = places.get(key) ?? places.size;
    places.set(key, place);
    return (await answers)[place];
  };
}
