import { newRow } from "@statehouse/postgres/new-row";
import type { Holder, OrganizationId, ProjectId, WorkspaceId } from "../ids-domain.ts";

/**
 * The time, in ms, in which the request that makes a change must get the confirmation of another service. After this
 * time, any replica repeats the call to that service.
 */
export const RETRY_AFTER_MS = 30_000;

/**
 * The record of a workspace's deletion. After the state service has confirmed the deletion, all values except the
 * workspace's id are null.
 */
export class WorkspaceDeletion {
  declare workspaceId: WorkspaceId;
  declare organizationId: OrganizationId | null;
  declare projectId: ProjectId | null;
  declare name: string | null;
  declare retryAt: Date | null;
}

export const newWorkspaceDeletion = (
  {
    id,
    organizationId,
    projectId,
    name,
  }: { id: WorkspaceId; organizationId: OrganizationId; projectId: ProjectId; name: string },
  now: Date,
): WorkspaceDeletion =>
  newRow(WorkspaceDeletion, {
    workspaceId: id,
    organizationId,
    projectId,
    name,
    retryAt: retryAt(now),
  });

/** A deletion of a workspace that the state service has not confirmed. */
export interface PendingDeletion {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
}

/**
 * The record of an organization's deletion. After the deletion is complete in all services, all values except the
 * organization's id are null.
 */
export class OrganizationDeletion {
  declare organizationId: OrganizationId;
  declare name: string | null;
  /**
   * The principal that deleted the organization. It may repeat the request, although its grants in the organization are
   * already deleted.
   */
  declare deletedByType: string | null;
  declare deletedById: string | null;
  declare retryAt: Date | null;
}

export const newOrganizationDeletion = (
  { id, name }: { id: OrganizationId; name: string },
  deleter: Deleter,
  now: Date,
): OrganizationDeletion =>
  newRow(OrganizationDeletion, {
    organizationId: id,
    name,
    deletedByType: deleter.type,
    deletedById: deleter.id,
    retryAt: retryAt(now),
  });

const retryAt = (now: Date) => new Date(now.getTime() + RETRY_AFTER_MS);

/** A deletion of an organization that is not complete in all services. */
export type PendingOrganizationDeletion = Pick<OrganizationDeletion, "organizationId">;

/** The principal that deletes an organization. */
export interface Deleter extends Omit<Holder, "type"> {
  type: string;
}
