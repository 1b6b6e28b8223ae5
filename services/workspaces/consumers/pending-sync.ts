import { hint, type Projection } from "@statehouse/events";
import { isId } from "@statehouse/postgres/ids";
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
 * nothing is left to do. Their owner is this service: it reads its own rows.
 */
export const pendingSyncProjections = (app: App): Projection[] => [
  {
    hints: hint(OrganizationCreatedSchema, organizationIn),
    refresh: each((id) => syncOrganizationById(app, id)),
  },
  {
    hints: hint(OrganizationUpdatedSchema, organizationIn),
    refresh: each((id) => syncCredentialSettings(app, id)),
  },
  {
    hints: hint(WorkspaceUpdatedSchema, workspaceIn),
    refresh: each((id) => syncPlacementById(app, id)),
  },
  {
    hints: hint(WorkspaceDeletedSchema, workspaceIn),
    refresh: each((id) => syncDeletionById(app, id)),
  },
];

const organizationIn = ({ organizationId: id }: { organizationId: string }) =>
  isId("org", id) ? id : undefined;

const workspaceIn = ({ workspaceId: id }: { workspaceId: string }) =>
  isId("ws", id) ? id : undefined;

const each = (sync: (id: string) => Promise<void>) => async (ids: readonly string[]) => {
  for (const id of ids) await sync(id);
};
