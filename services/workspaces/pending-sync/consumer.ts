import { hint, type Projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import {
  OrganizationCreatedSchema,
  OrganizationUpdatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app.ts";
import { syncOrganization } from "../organization/app.ts";
import { syncDeletion } from "../workspace-deletion/app.ts";
import { syncPlacement } from "../workspace-placement/app.ts";

/**
 * Completes the changes of interrupted requests in the other services. The workspaces service receives its own events
 * for this and reads its own rows. Usually the request has already completed all changes.
 */
export const pendingSyncProjections = (app: App): Projection[] => {
  /** Completes each change that `find` returns: the other service has not confirmed it. */
  const completing =
    <Change>(
      find: (reads: App["reads"], id: string) => Promise<Change | undefined>,
      complete: (app: App, change: Change) => Promise<void>,
    ) =>
    async (ids: readonly string[]) => {
      for (const id of ids) {
        const change = await find(app.reads, id);
        if (change) await complete(app, change);
      }
    };
  return [
    {
      hints: hint(OrganizationCreatedSchema, organizationIn),
      refresh: completing(
        ({ pendingSyncs }, id) => pendingSyncs.findUnprovisioned(id),
        syncOrganization,
      ),
    },
    {
      hints: hint(OrganizationUpdatedSchema, organizationIn),
      refresh: completing(
        ({ organizations }, id) => organizations.findCredentialSettings(id),
        ({ access }, settings) => access.setOrganizationSettings(settings),
      ),
    },
    {
      hints: hint(WorkspaceUpdatedSchema, workspaceIn),
      refresh: completing(
        ({ pendingSyncs }, id) => pendingSyncs.findPendingPlacement(id),
        syncPlacement,
      ),
    },
    {
      hints: hint(WorkspaceDeletedSchema, workspaceIn),
      refresh: completing(
        ({ pendingSyncs }, id) => pendingSyncs.findPendingDeletion(id),
        syncDeletion,
      ),
    },
  ];
};

const organizationIn = ({ organizationId }: { organizationId: string }) =>
  parseId("org", organizationId);

const workspaceIn = ({ workspaceId }: { workspaceId: string }) => parseId("ws", workspaceId);
