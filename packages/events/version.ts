/**
 * The successor of a version, a revision or an epoch: `max(previous + 1, now in µs)`. It only grows, and a database
 * restored from a backup never assigns the same number twice. Pure: the domains of all services use it.
 */
export function nextVersion(previous: bigint, now: Date): bigint {
  const micros = BigInt(now.getTime()) * 1000n;
  return micros > previous ? micros : previous + 1n;
}
