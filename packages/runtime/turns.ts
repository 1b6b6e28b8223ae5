/** Resolves in the next turn of the event loop, after other events have been processed. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * Returns a function that runs at most `most` of its arguments in one turn of the event loop, and the others in later
 * turns, in order.
 */
export function limitPerTurn(most: number): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  let begun = 0;
  let isScheduled = false;
  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(beginTurn);
  };
  const run = (work: () => void) => {
    begun += 1;
    schedule();
    work();
  };
  const beginTurn = () => {
    isScheduled = false;
    begun = 0;
    const next = waiting.slice(0, most);
    waiting = waiting.slice(most);
    for (const work of next) run(work);
  };
  return (work) => {
    if (begun < most && waiting.length === 0) return run(work);
    waiting.push(work);
    schedule();
  };
}
