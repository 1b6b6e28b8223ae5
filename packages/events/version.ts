/**
 * Returns the successor of a version, revision or epoch: `max(previous + 1, now in µs)`. The number only grows. Because
 * it follows the clock, a database that was restored from a backup does not assign the same number again. A pure
 * function, so the domains of all services can use it.
 */
export function nextVersion(previous: bigint, now: Date): bigint {
  const micros = BigInt(now.getTime()) * 1000n;
  return micros > previous ? micros : previous + 1n;
}
