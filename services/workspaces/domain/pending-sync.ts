import type { Holder, OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/** Time in which a request can get the confirmation of another service before other replicas retry. */
export const RETRY_AFTER_MS = 30_000;

/** A deletion that state has not confirmed; after the confirmation only the id remains. */
export interface PendingDeletion {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
}

/** A deletion that is not complete in all services; afterwards only the id remains. */
export interface PendingOrganizationDeletion {
  organizationId: OrganizationId;
}

/**
 * The user who deleted the organization and who may repeat the request, although the grants of this user are deleted
 * with it.
 */
export interface Deleter extends Omit<Holder, "type"> {
  type: string;
}
