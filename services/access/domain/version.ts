import { nextVersion } from "@statehouse/events/version";

/** Gives a locked row its next version, under which no grants are cached. Returns the version. */
export function touch(row: { version: bigint }, at: Date): bigint {
  row.version = nextVersion(row.version, at);
  return row.version;
}
