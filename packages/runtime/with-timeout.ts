/**
 * Returns the result of `work`, or throws `late()` if it takes longer than `ms`. The work is not stopped, and if it
 * fails later the failure is ignored.
 */
export async function withTimeout<T>(
  ms: number,
  work: Promise<T>,
  late: () => Error = () => new Error(`no response within ${ms} ms`),
): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(late()), ms);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
