import type { Holder, OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/** How long a request has to get another service's confirmation before other replicas retry. */
export const RETRY_AFTER_MS = 30_000;

/** A deletion that state has not confirmed. Afterwards only the id remains. */
export interface PendingDeletion {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
}

/** A deletion that is not complete in all services. Afterwards only the id remains. */
export interface PendingOrganizationDeletion {
  organizationId: OrganizationId;
}

/** The user who deleted it, whose grants are deleted with it and who may still repeat the request. */
export interface Deleter extends Omit<Holder, "type"> {
  type: string;
}
