/**
 * Returns the result of `work`, or throws `late()` if it takes longer than `ms`. The work is not stopped, and if it
 * fails later the failure is ignored.
 */
export const withTimeout = <T>(
  ms: number,
  work: Promise<T>,
  late: () => Error = () => new Error(`no response within ${ms} ms`),
): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
