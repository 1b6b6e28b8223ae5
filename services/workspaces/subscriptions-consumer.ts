import { deletedUsers } from "@statehouse/audit";
import type { Consumer } from "@statehouse/events";
import type { App } from "./app.ts";
import { pendingSyncProjections } from "./pending-sync/consumer.ts";
import { workspaceStateProjection } from "./state-summary/consumer.ts";

/** The event subscriptions of the workspaces service. */
export const consumers = (app: App): Consumer[] => {
  const projections = pendingSyncProjections(app);
  return [
    {
      name: "workspace-state",
      filter: "statehouse.state.workspace-state.changed.>",
      projections: [workspaceStateProjection(app)],
    },
    { name: "created", filter: "statehouse.workspaces.organization.created.>", projections },
    { name: "updated", filter: "statehouse.workspaces.*.updated.>", projections },
    { name: "deleted", filter: "statehouse.workspaces.workspace.deleted.>", projections },
    deletedUsers({
      audit: app.audit,
      exists: async (id) => (await app.access.nameOf({ type: "user", id })) !== undefined,
    }),
  ];
};
