import { nextVersion } from "@statehouse/events/version";

/** Sets the next revision of a changed row, and the time of the change. */
export function touch(row: { revision: bigint; updatedAt: Date }, at: Date): void {
  row.revision = nextVersion(row.revision, at);
  row.updatedAt = at;
}
