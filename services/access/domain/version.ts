import { nextVersion } from "@statehouse/events/version";

/** Gives a locked row its next version, under which nobody has kept any grants. */
export function bump(row: { version: bigint }, at: Date): bigint {
  row.version = nextVersion(row.version, at);
  return row.version;
}
