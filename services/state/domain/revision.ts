/** The next of a growing number: never repeated, even by a database restored from a backup. */
export const nextRevision = (previous: bigint, now: Date): bigint => {
  const micros = BigInt(now.getTime()) * 1000n;
  return micros > previous ? micros : previous + 1n;
};
