import type { DataRetentionPolicyView } from "./data-retention-policy.ts";
import type { Organization } from "./organization.ts";

/** An organization as it is shown: always an active one. */
export type OrganizationView = Omit<
  Organization,
  "status" | "creatorUserId" | "retryAt" | "revision" | "updatedAt"
> & {
  /** Its own; null: what the site says. */
  dataRetentionPolicy: DataRetentionPolicyView | null;
  /** Null to who may not read all of them. */
  projectCount: number | null;
  workspaceCount: number | null;
};
