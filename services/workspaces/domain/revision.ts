import { nextVersion } from "@statehouse/events/version";

/** Gives a changed row its next revision and the time of the change. */
export function touch(row: { revision: bigint; updatedAt: Date }, at: Date): void {
  row.revision = nextVersion(row.revision, at);
  row.updatedAt = at;
}
