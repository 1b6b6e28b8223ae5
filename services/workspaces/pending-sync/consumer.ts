import { hint, type Projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import {
  OrganizationCreatedSchema,
  OrganizationUpdatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app.ts";
import { syncCredentialSettings } from "../organization/app.ts";
import {
  syncDeletionById,
  syncOrganizationById,
  syncPlacementById,
} from "../reconciliation-app.ts";

/**
 * Completes the changes of interrupted requests in the other services. The workspaces service receives its own events
 * for this and reads its own rows. Usually the request has already completed all changes.
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

const organizationIn = ({ organizationId }: { organizationId: string }) =>
  parseId("org", organizationId);

const workspaceIn = ({ workspaceId }: { workspaceId: string }) => parseId("ws", workspaceId);

const each = (sync: (id: string) => Promise<void>) => async (ids: readonly string[]) => {
  for (const id of ids) await sync(id);
};
