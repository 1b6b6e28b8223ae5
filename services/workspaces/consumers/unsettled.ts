import { type EventHandlers, on } from "@statehouse/events";
import {
  OrganizationCreatedSchema,
  OrganizationUpdatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import {
  settleDeletionById,
  settleOrganizationById,
  settlePlacementById,
  settleTokenSettings,
} from "../app/reconciliation.ts";

/**
 * Our own events, heard to complete what spans two services when the request that began it died in
 * between. Almost always there is nothing left to do.
 */
export const unsettledHandlers = (app: App): EventHandlers => ({
  ...on(OrganizationCreatedSchema, ({ organizationId }) =>
    settleOrganizationById(app, organizationId),
  ),
  ...on(OrganizationUpdatedSchema, ({ organizationId }) =>
    settleTokenSettings(app, organizationId),
  ),
  ...on(WorkspaceUpdatedSchema, ({ workspaceId }) => settlePlacementById(app, workspaceId)),
  ...on(WorkspaceDeletedSchema, ({ workspaceId }) => settleDeletionById(app, workspaceId)),
});
