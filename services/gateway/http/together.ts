import { setImmediate as endOfTurn } from "node:timers/promises";

/** Beyond this many, what is asked for begins a batch of its own. */
const MAX_BATCH = 100;

interface Batch<Key, Answer> {
  /** Each key with its place. */
  places: Map<Key, number>;
  answers: Promise<readonly (Answer | undefined)[]>;
}

/**
 * Asks at once for everything that is wanted in one turn of the event loop, each key once. What is asked is
 * never older than the wish: who comes after it was sent waits for the next one.
 */
export function together<Key, Answer>(
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
