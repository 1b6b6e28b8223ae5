/**
 * What follows a version: it only grows, and a database restored from a backup never repeats one,
 * because the clock (in µs) has moved on.
 */
export function nextVersion(previous: bigint, at: Date): bigint {
  const micros = BigInt(at.getTime()) * 1000n;
  return micros > previous ? micros : previous + 1n;
}

/** Gives a locked row its next version, under which nobody has kept any grants. */
export function bump(row: { version: bigint }, at: Date): bigint {
  row.version = nextVersion(row.version, at);
  return row.version;
}
