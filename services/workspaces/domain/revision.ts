import { nextVersion } from "@statehouse/events/version";

/** Records a visible change of a row. */
export function touch(row: { revision: bigint; updatedAt: Date }, at: Date): void {
  row.revision = nextVersion(row.revision, at);
  row.updatedAt = at;
}
