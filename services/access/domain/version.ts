import { nextVersion } from "@statehouse/events/version";

/** Gives a locked row its next version and returns it. No grants can be cached under the new version yet. */
export function touch(row: { version: bigint }, at: Date): bigint {
  row.version = nextVersion(row.version, at);
  return row.version;
}
