import type { Holder, OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/**
 * The time, in ms, in which the request that makes a change must get the confirmation of another service. After this
 * time, any replica repeats the call to that service.
 */
export const RETRY_AFTER_MS = 30_000;

/**
 * A deletion of a workspace that the state service has not confirmed. After the confirmation, only the workspace's id
 * is kept.
 */
export interface PendingDeletion {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
}

/**
 * A deletion of an organization that is not complete in all services. After its completion, only the organization's id
 * is kept.
 */
export interface PendingOrganizationDeletion {
  organizationId: OrganizationId;
}

/**
 * The principal that deleted an organization. It may repeat the request, although its grants in the organization are
 * already deleted.
 */
export interface Deleter extends Omit<Holder, "type"> {
  type: string;
}
