import type { Holder, OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/** How long a request has to get a neighbour's acknowledgement before others try in its place. */
export const RETRY_AFTER_MS = 30_000;

/** A deletion that state has not acknowledged. Afterwards nothing of it is left but the bare id. */
export interface PendingDeletion {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
}

/** A deletion that is not through everywhere. Afterwards nothing of it is left but the bare id. */
export interface PendingOrganizationDeletion {
  organizationId: OrganizationId;
}

/** Who deleted it: their grants are gone with it, and still they may repeat the request. */
export interface Deleter extends Omit<Holder, "type"> {
  type: string;
}
