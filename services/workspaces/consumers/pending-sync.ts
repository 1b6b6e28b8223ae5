import { type EventHandlers, on } from "@statehouse/events";
import {
  OrganizationCreatedSchema,
  OrganizationUpdatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import { syncCredentialSettings } from "../app/organization.ts";
import {
  syncDeletionById,
  syncOrganizationById,
  syncPlacementById,
} from "../app/reconciliation.ts";

/**
 * The service consumes its own events to complete changes in other services after an interrupted request. Usually
 * nothing is left to do.
 */
export const pendingSyncHandlers = (app: App): EventHandlers => ({
  ...on(OrganizationCreatedSchema, ({ organizationId }) =>
    syncOrganizationById(app, organizationId),
  ),
  ...on(OrganizationUpdatedSchema, ({ organizationId }) =>
    syncCredentialSettings(app, organizationId),
  ),
  ...on(WorkspaceUpdatedSchema, ({ workspaceId }) => syncPlacementById(app, workspaceId)),
  ...on(WorkspaceDeletedSchema, ({ workspaceId }) => syncDeletionById(app, workspaceId)),
});
