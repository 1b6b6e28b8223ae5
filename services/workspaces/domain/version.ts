/**
 * The successor of an epoch, version or revision: `max(previous + 1, now in µs)`, so that a database
 * restored from a backup never gives out one of them twice.
 */
export function nextVersion(previous: bigint, now: Date): bigint {
  const micros = BigInt(now.getTime()) * 1000n;
  return micros > previous ? micros : previous + 1n;
}
