import { nextVersion } from "@statehouse/events/version";

/** Sets and returns the next version of a locked row. No grants can yet be cached under the new version. */
export function touch(row: { version: bigint }, at: Date): bigint {
  row.version = nextVersion(row.version, at);
  return row.version;
}
