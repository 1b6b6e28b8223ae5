import { nextVersion } from "@statehouse/events/version";

/**
 * Sets and returns the next version of a row, which the caller must have locked. No cache can already contain grants
 * under the new version.
 */
export function touch(row: { version: bigint }, at: Date): bigint {
  row.version = nextVersion(row.version, at);
  return row.version;
}
