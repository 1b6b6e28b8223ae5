import type { Database } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";

/** The raw state of one version that is due for extraction. */
export interface ExtractionClaim {
  versionId: StateVersionId;
  workspaceId: WorkspaceId;
  blobKey: string;
  size: number;
  /** Number of this attempt. The result of an older attempt is not stored. */
  attempt: number;
}

/** Leases for versions whose states must be extracted. */
const leases = (database: Database) => ({
  /**
   * Claims the version that has waited longest for extraction; the lease ends at `leaseUntil`. Skips the versions of
   * dropped workspaces, which are deleted later: the results of their extraction are never stored, so these versions
   * would be claimed again after every lease.
   */
  async claim(now: Date, leaseUntil: Date): Promise<ExtractionClaim | undefined> {
    const [claim] = await database.query<ExtractionClaim>(
      // index: state_versions_extraction, workspace_states_pkey
      `update state_versions
       set extraction_due_at = $2, extraction_attempts = extraction_attempts + 1
       where id = (
         select version.id from state_versions version where version.extraction_due_at <= $1
           and (select workspace.dropped_at from workspace_states workspace
             where workspace.workspace_id = version.workspace_id) is null
         order by version.extraction_due_at limit 1 for update skip locked)
       returning id as "versionId", workspace_id as "workspaceId", blob_key as "blobKey", size,
         extraction_attempts as attempt`,
      [now, leaseUntil],
    );
    return claim;
  },

  /** Extends the lease. Returns false if the claim is lost: another replica holds it, or the extraction has ended. */
  async renew({ versionId, attempt }: ExtractionClaim, leaseUntil: Date): Promise<boolean> {
    const renewed = await database.query(
      // index: state_versions_pkey
      `update state_versions set extraction_due_at = $3
       where id = $1 and extraction_attempts = $2 and extraction_due_at is not null returning id`,
      [versionId, attempt, leaseUntil],
    );
    return renewed.length > 0;
  },
});

export const extractions = { leases };
