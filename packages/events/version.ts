/**
 * Returns the successor of a version, revision or epoch: `max(previous + 1, now in µs)`. The number only grows, and it
 * is at least the current time. A database that was restored from a backup therefore does not assign a number a second
 * time. A pure function, so the domains of all services can use it.
 */
export function nextVersion(previous: bigint, now: Date): bigint {
  const micros = BigInt(now.getTime()) * 1000n;
  return micros > previous ? micros : previous + 1n;
}
