/**
 * The successor of a version, a revision or an epoch: `max(previous + 1, now in µs)`. The number only grows, and a
 * database restored from a backup never assigns the same number twice. A pure function, so the domains of all
 * services can use it.
 */
export function nextVersion(previous: bigint, now: Date): bigint {
  const micros = BigInt(now.getTime()) * 1000n;
  return micros > previous ? micros : previous + 1n;
}
